-- One row is one change that a build made to a table of a built day, newest last.
-- Grain: (day, built_at, table_name).
SELECT
  CAST(day AS DATE) AS day,
  built_at,
  CAST(table_name AS VARCHAR) AS table_name,
  CAST(old_digest AS VARCHAR) AS old_digest,
  CAST(new_digest AS VARCHAR) AS new_digest,
  CAST(reason AS VARCHAR) AS reason
FROM restatements
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
