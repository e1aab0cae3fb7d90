-- One row is one agent of whose lines vendors report something on one built day.
-- Grain: (day, agent).
SELECT
  CAST(day AS DATE) AS day,
  CAST(agent AS VARCHAR) AS agent,
  CAST(count(DISTINCT user_id) AS BIGINT) AS users,
  CAST(sum(CASE WHEN kind = 'suggested' THEN lines END) AS BIGINT) AS suggested,
  CAST(sum(CASE WHEN kind = 'accepted' THEN lines END) AS BIGINT) AS accepted,
  CAST(sum(CASE WHEN kind = 'deleted' THEN lines END) AS BIGINT) AS deleted
FROM vendor_lines
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  agent
