-- One row is one built day: how many people used its agents.
-- Grain: (day).
SELECT
  *,
  CASE WHEN $floor > 0 THEN 1 ELSE 0 END AS is_guarded
FROM activity
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
