-- One row says that a build changed what a built day had in one table, the newest last.
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
ORDER BY
  day,
  built_at,
  table_name
