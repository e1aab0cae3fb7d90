-- One row is one agent with an active user on a built day.
-- Grain: (date, group_key).
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(agent AS VARCHAR) AS group_key,  -- the agent, empty if events name none, e.g. codex
  CAST(daily_active_users AS BIGINT) AS daily_active_users,  -- users who were active with the agent on the day; a user of several agents counts for each of them, e.g. 12
  CAST(sessions AS BIGINT) AS sessions,  -- sessions started, e.g. 40
  CAST(messages AS BIGINT) AS messages,  -- messages of users and agents, e.g. 512
  CAST(user_messages AS BIGINT) AS user_messages  -- messages of users, e.g. 88
FROM report_activity_by_agent
ORDER BY
  date,
  daily_active_users DESC,
  group_key
