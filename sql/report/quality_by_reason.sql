-- One row is one reason for which lines of a day were rejected.
-- Grain: (day, reason).
SELECT
  CAST(day AS DATE) AS day,
  CAST(reason AS VARCHAR) AS reason,
  CAST(count(*) AS BIGINT) AS lines
FROM rejects
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  reason
