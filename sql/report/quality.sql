-- One row is one built day: what has arrived for it so far, and what its build found.
-- Grain: (day).
SELECT *
FROM day_quality
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND built_at IS NOT NULL
