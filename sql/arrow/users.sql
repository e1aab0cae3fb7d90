-- One row is one user of a page on a day on which the user was active.
-- Grain: (user_id, date).
WITH languages_of_user AS (
  SELECT
    user_id,
    day,
    list(CAST(language AS VARCHAR) ORDER BY files DESC, language) AS languages
  FROM report_users_by_language
  GROUP BY
    user_id,
    day
)
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(user_email AS VARCHAR) AS user_email,
  CAST(day AS DATE) AS date,
  CAST(tool_calls AS BIGINT) AS tool_calls,
  CAST(billable_tokens AS BIGINT) AS billable_tokens,
  CAST(primary_model AS VARCHAR) AS primary_model,
  CAST(primary_model_tier AS VARCHAR) AS primary_model_tier,
  CAST(files_created AS BIGINT) AS files_created,
  CAST(files_edited AS BIGINT) AS files_edited,
  CAST(git_commits AS BIGINT) AS git_commits,
  CAST(git_prs_created AS BIGINT) AS git_prs_created,
  CAST(mcp_calls AS BIGINT) AS mcp_calls,
  CAST(skill_calls AS BIGINT) AS skill_calls,
  CAST(slash_commands AS BIGINT) AS slash_commands,
  CAST(hooks AS BIGINT) AS hooks,
  CAST(sessions AS BIGINT) AS sessions,
  CAST(messages AS BIGINT) AS messages,
  CAST(user_messages AS BIGINT) AS user_messages,
  CAST(assistant_messages AS BIGINT) AS assistant_messages,
  CAST(autonomy_ratio AS DOUBLE) AS autonomy_ratio,
  CAST(delegation_level AS VARCHAR) AS delegation_level,
  coalesce(languages, []) AS languages
FROM report_users
LEFT JOIN languages_of_user USING (user_id, day)
ORDER BY
  user_id,
  date
