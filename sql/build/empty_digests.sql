-- One row is the digest of one table of one due day without rows: the SHA-256 of nothing.
-- Reads written_rows for the tables, and fresh_digests. Grain: (org_id, day, table_name).
SELECT
  CAST(due.org_id AS VARCHAR) AS org_id,
  CAST(due.day AS DATE) AS day,
  CAST(written_rows.table_name AS VARCHAR) AS table_name,
  CAST(0 AS BIGINT) AS row_count,
  CAST('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' AS VARCHAR) AS digest
FROM due
CROSS JOIN written_rows
WHERE (due.org_id, due.day, written_rows.table_name) NOT IN (
  SELECT
    org_id,
    day,
    table_name
  FROM fresh_digests
)
