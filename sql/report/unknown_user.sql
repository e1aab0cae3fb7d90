-- One row is one agent with events of the 14 days up to $last that don't say whose they are. All organizations.
-- Grain: (org_id, agent).
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(agent AS VARCHAR) AS agent,
  CAST(sum(events) AS BIGINT) AS events
FROM coverage
WHERE user_id = 'unknown'
  AND day BETWEEN CAST($last AS DATE) - 13 AND $last
GROUP BY
  org_id,
  agent
ORDER BY
  org_id,
  agent
