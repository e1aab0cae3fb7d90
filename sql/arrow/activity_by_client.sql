-- One row is one client with an active user on a built day.
-- Grain: (date, group_key).
SELECT
  CAST(day AS DATE) AS date,
  CAST(client AS VARCHAR) AS group_key,
  CAST(daily_active_users AS BIGINT) AS daily_active_users
FROM report_activity_by_client
ORDER BY
  date,
  daily_active_users DESC,
  group_key
