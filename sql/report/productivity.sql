-- One row is one built day: the files, commits and pull requests of its agents.
-- Grain: (day).
SELECT *
FROM productivity
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
