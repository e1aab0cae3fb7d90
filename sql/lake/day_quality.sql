-- One row is the quality of one day of an organization that is in `wanted`, as it is published.
-- Grain: (org_id, day).
SELECT
  *
FROM day_quality
WHERE org_id IN (SELECT org_id FROM wanted)
  AND day BETWEEN $from AND $to
ORDER BY
  org_id,
  day
