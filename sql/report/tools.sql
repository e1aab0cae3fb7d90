-- One row is one built day: how its agents used tools.
-- Grain: (day).
SELECT *
FROM tools
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
