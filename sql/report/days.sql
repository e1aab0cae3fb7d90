-- One row is one built day in the range.
-- Grain: (day).
SELECT
  day,
  batch,
  built_at
FROM days
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
ORDER BY day
