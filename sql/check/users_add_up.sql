-- The users of a day add up to the day of their organization.
-- One row of counted is one number from one side; a number that a day lacks is 0 (days_have_one_row finds that).
WITH
counted AS (
  SELECT
    org_id,
    day,
    'daily_active_users' AS measure,
    CAST(count(*) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'daily_active_users' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(daily_active_users AS BIGINT) AS of_day
  FROM activity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'tool_calls' AS measure,
    CAST(sum(tool_calls) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'tool_calls' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(tool_calls AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'billable_tokens' AS measure,
    CAST(sum(billable_tokens) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'billable_tokens' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(sum(billable_tokens) AS BIGINT) AS of_day
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'files_created' AS measure,
    CAST(sum(files_created) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'files_created' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(files_created AS BIGINT) AS of_day
  FROM productivity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'files_edited' AS measure,
    CAST(sum(files_edited) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'files_edited' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(files_edited AS BIGINT) AS of_day
  FROM productivity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'git_commits' AS measure,
    CAST(sum(git_commits) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'git_commits' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(git_commits AS BIGINT) AS of_day
  FROM productivity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'git_prs_created' AS measure,
    CAST(sum(git_prs_created) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'git_prs_created' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(git_prs_created AS BIGINT) AS of_day
  FROM productivity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'mcp_users_with_mcp' AS measure,
    CAST(sum(CASE WHEN mcp_calls > 0 THEN 1 ELSE 0 END) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'mcp_users_with_mcp' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(mcp_users_with_mcp AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'mcp_calls' AS measure,
    CAST(sum(mcp_calls) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'mcp_calls' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(sum(CASE WHEN server_key <> '' THEN tool_calls ELSE 0 END) AS BIGINT) AS of_day
  FROM user_tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'skills_invocations' AS measure,
    CAST(sum(skill_calls) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'skills_invocations' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(skills_invocations AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'slash_commands_invocations' AS measure,
    CAST(sum(slash_commands) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'slash_commands_invocations' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(slash_commands_invocations AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'hooks_invocations' AS measure,
    CAST(sum(hooks) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'hooks_invocations' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(hooks_invocations AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'sessions' AS measure,
    CAST(sum(sessions) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'sessions' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(sessions AS BIGINT) AS of_day
  FROM activity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'messages' AS measure,
    CAST(sum(messages) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'messages' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(messages AS BIGINT) AS of_day
  FROM activity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'user_messages' AS measure,
    CAST(sum(user_messages) AS BIGINT) AS of_users,
    CAST(0 AS BIGINT) AS of_day
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'user_messages' AS measure,
    CAST(0 AS BIGINT) AS of_users,
    CAST(user_messages AS BIGINT) AS of_day
  FROM activity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
)
SELECT
  org_id,
  day,
  measure || ' of the users add up to ' || CAST(sum(of_users) AS VARCHAR) || ' where the day has ' || CAST(sum(of_day) AS VARCHAR) AS difference
FROM counted
GROUP BY
  org_id,
  day,
  measure
HAVING sum(of_users) <> sum(of_day)
ORDER BY
  org_id,
  day,
  measure
