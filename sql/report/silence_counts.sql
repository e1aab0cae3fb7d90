-- One row is one organization with how many of its collectors and agents have which state in sql/report/silence.sql.
-- Grain: (org_id).
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(count(CASE WHEN state = 'live' THEN 1 END) AS BIGINT) AS live_collectors,
  CAST(count(CASE WHEN kind = 'collector' AND state = 'silent' THEN 1 END) AS BIGINT) AS silent_collectors,
  CAST(count(CASE WHEN kind = 'agent' AND state = 'silent' THEN 1 END) AS BIGINT) AS silent_agents,
  CAST(count(CASE WHEN state = 'idle' THEN 1 END) AS BIGINT) AS idle_agents,
  CAST(count(CASE WHEN state = 'acknowledged' THEN 1 END) AS BIGINT) AS acknowledged
FROM silence
GROUP BY org_id
ORDER BY org_id
