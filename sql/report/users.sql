-- One row is one user of a page on a day on which the user was active.
-- Grain: (user_id, day).
SELECT
  CAST(users.user_id AS VARCHAR) AS user_id,
  CAST(user_emails.user_email AS VARCHAR) AS user_email,
  CAST(users.day AS DATE) AS day,
  CAST(users.tool_calls AS BIGINT) AS tool_calls,
  CAST(users.billable_tokens AS BIGINT) AS billable_tokens,
  CAST(users.primary_model AS VARCHAR) AS primary_model,
  CAST(users.primary_model_tier AS VARCHAR) AS primary_model_tier,
  CAST(users.files_created AS BIGINT) AS files_created,
  CAST(users.files_edited AS BIGINT) AS files_edited,
  CAST(users.git_commits AS BIGINT) AS git_commits,
  CAST(users.git_prs_created AS BIGINT) AS git_prs_created,
  CAST(users.mcp_calls AS BIGINT) AS mcp_calls,
  CAST(users.skill_calls AS BIGINT) AS skill_calls,
  CAST(users.slash_commands AS BIGINT) AS slash_commands,
  CAST(users.hooks AS BIGINT) AS hooks,
  CAST(users.sessions AS BIGINT) AS sessions,
  CAST(users.messages AS BIGINT) AS messages,
  CAST(users.user_messages AS BIGINT) AS user_messages,
  CAST(users.assistant_messages AS BIGINT) AS assistant_messages,
  CAST(users.autonomy_ratio AS DOUBLE) AS autonomy_ratio,
  CAST(users.delegation_level AS VARCHAR) AS delegation_level
FROM users
LEFT JOIN user_emails
  ON user_emails.org_id = $org_id
  AND user_emails.user_id BETWEEN $first_user_id AND $last_user_id
  AND user_emails.user_id = users.user_id
WHERE users.org_id = $org_id
  AND users.day BETWEEN $from AND $to
  AND users.user_id BETWEEN $first_user_id AND $last_user_id
ORDER BY
  user_id,
  day
