-- One row is one agent with an active user on a built day.
-- Grain: (day, agent).
SELECT
  CAST(day AS DATE) AS day,
  CAST(agent AS VARCHAR) AS agent,
  CAST(count(*) AS BIGINT) AS daily_active_users,
  CAST(sum(sessions) AS BIGINT) AS sessions,
  CAST(sum(messages) AS BIGINT) AS messages,
  CAST(sum(user_messages) AS BIGINT) AS user_messages
FROM user_agents
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  agent
