-- One row is one client with an active user on a built day.
-- Grain: (day, client).
SELECT
  CAST(day AS DATE) AS day,
  CAST(client AS VARCHAR) AS client,
  CAST(active_users AS BIGINT) AS daily_active_users
FROM day_clients
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  -- A reader who may not tell few people apart sees no clients.
  AND $floor = 0
