-- One row is one table of a built day, with the digest of its rows.
-- Grain: (day, table_name).
SELECT
  CAST(day AS DATE) AS day,
  CAST(table_name AS VARCHAR) AS table_name,
  CAST(row_count AS BIGINT) AS row_count,
  CAST(digest AS VARCHAR) AS digest
FROM digests
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
