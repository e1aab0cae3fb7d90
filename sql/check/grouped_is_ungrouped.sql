-- The groups of a number add up to the number that has no groups.
-- One row of counted is one number from one side; a number that a day lacks is 0 (days_have_one_row finds that).
WITH
counted AS (
  SELECT
    org_id,
    day,
    'tool_calls by tool' AS measure,
    CAST(sum(tool_calls) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'tool_calls by tool' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(tool_calls AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'tool_calls by autonomy mode' AS measure,
    CAST(sum(tool_calls) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_modes
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'tool_calls by autonomy mode' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(tool_calls AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'tool_calls by session' AS measure,
    CAST(sum(tool_calls) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'tool_calls by session' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(tool_calls AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'user_messages by autonomy mode' AS measure,
    CAST(sum(user_turns) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_modes
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'user_messages by autonomy mode' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(user_messages AS BIGINT) AS of_day
  FROM activity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'user_messages by session' AS measure,
    CAST(sum(user_turns) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'user_messages by session' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(user_messages AS BIGINT) AS of_day
  FROM activity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'daily_active_users by session' AS measure,
    CAST(count(DISTINCT user_id) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'daily_active_users by session' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(daily_active_users AS BIGINT) AS of_day
  FROM activity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'events by session' AS measure,
    CAST(sum(events) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'events by session' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(events AS BIGINT) AS of_day
  FROM quality
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'events by client' AS measure,
    CAST(sum(events) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_clients
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'events by client' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(events - events_without_client AS BIGINT) AS of_day
  FROM quality
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'web_users by client' AS measure,
    CAST(count(DISTINCT CASE WHEN client = 'web' THEN user_id END) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_clients
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'web_users by client' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(web_users AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'mcp_users_with_mcp by server' AS measure,
    CAST(count(DISTINCT CASE WHEN server_key <> '' THEN user_id END) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'mcp_users_with_mcp by server' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(mcp_users_with_mcp AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'skills_invocations by name' AS measure,
    CAST(sum(uses) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_skills
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'skills_invocations by name' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(skills_invocations AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'slash_commands_invocations by name' AS measure,
    CAST(sum(uses) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_slash_commands
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'slash_commands_invocations by name' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(slash_commands_invocations AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'hooks_invocations by event' AS measure,
    CAST(sum(runs) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_hooks
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'hooks_invocations by event' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(hooks_invocations AS BIGINT) AS of_day
  FROM tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'files_created by extension' AS measure,
    CAST(sum(files_created) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_extensions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'files_created by extension' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(files_created AS BIGINT) AS of_day
  FROM productivity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT
    org_id,
    day,
    'files_edited by extension' AS measure,
    CAST(sum(files_edited) AS BIGINT) AS of_groups,
    CAST(0 AS BIGINT) AS of_day
  FROM user_extensions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'files_edited by extension' AS measure,
    CAST(0 AS BIGINT) AS of_groups,
    CAST(files_edited AS BIGINT) AS of_day
  FROM productivity
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
)
SELECT
  org_id,
  day,
  measure || ' adds up to ' || CAST(sum(of_groups) AS VARCHAR) || ' where the day has ' || CAST(sum(of_day) AS VARCHAR) AS difference
FROM counted
GROUP BY
  org_id,
  day,
  measure
HAVING sum(of_groups) <> sum(of_day)
ORDER BY
  org_id,
  day,
  measure
