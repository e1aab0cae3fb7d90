-- One row is one client on which one user was active with one agent on one day. Events without a client have no row.
-- Grain: (org_id, day, user_id, client, agent).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(client AS VARCHAR) AS client,
  CAST(coalesce(agent, '') AS VARCHAR) AS agent,
  CAST(count(*) AS BIGINT) AS events
FROM counted_events
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND client IS NOT NULL
GROUP BY
  org_id,
  day,
  user_id,
  client,
  coalesce(agent, '')
