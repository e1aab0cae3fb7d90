-- One row is one client on one day: how many people used it.
-- Grain: (org_id, day, client).
SELECT
  org_id,
  day,
  client,
  CAST(count(DISTINCT user_id) AS BIGINT) AS active_users
FROM user_clients
GROUP BY
  org_id,
  day,
  client
