-- One row is one built day: how many people used its agents.
-- Grain: (day).
SELECT *
FROM activity
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
