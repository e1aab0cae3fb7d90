-- One row is one built day: how many people used its agents.
-- Grain: (day).
SELECT
  CAST(day AS DATE) AS day,
  CAST(daily_active_users AS BIGINT) AS daily_active_users,
  CAST(weekly_active_users AS BIGINT) AS weekly_active_users,
  CAST(monthly_active_users AS BIGINT) AS monthly_active_users,
  CAST(sessions AS BIGINT) AS sessions,
  CAST(messages AS BIGINT) AS messages,
  CAST(user_messages AS BIGINT) AS user_messages
FROM activity
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
ORDER BY day
