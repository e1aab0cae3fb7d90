-- One row is one client with an active user on a built day.
-- Grain: (date, group_key).
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(client AS VARCHAR) AS group_key,  -- the client, e.g. terminal-ui
  CAST(daily_active_users AS BIGINT) AS daily_active_users  -- users who were active on the day, e.g. 12
FROM report_activity_by_client
ORDER BY
  date,
  daily_active_users DESC,
  group_key
