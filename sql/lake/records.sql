-- One row is one table with rows of one day of an organization that is in `wanted`: what the builds of the day recorded, or which of its
-- lines were rejected. The digest changes with the rows.
-- Grain: (org_id, day, table_name).
SELECT
  org_id,
  day,
  'digests' AS table_name,
  CAST(count(*) AS BIGINT) AS row_count,
  CAST(checksum(concat(table_name, ' ', digest)) AS VARCHAR) AS digest
FROM digests
WHERE org_id IN (SELECT org_id FROM wanted)
  AND day BETWEEN $from AND $to
GROUP BY
  org_id,
  day
UNION ALL
-- Rows are only ever added.
SELECT
  org_id,
  day,
  'rejects' AS table_name,
  CAST(count(*) AS BIGINT) AS row_count,
  concat(CAST(count(*) AS VARCHAR), '-', CAST(max(batch) AS VARCHAR)) AS digest
FROM rejects
WHERE org_id IN (SELECT org_id FROM wanted)
  AND day BETWEEN $from AND $to
GROUP BY
  org_id,
  day
UNION ALL
SELECT
  org_id,
  day,
  'restatements' AS table_name,
  CAST(count(*) AS BIGINT) AS row_count,
  concat(CAST(count(*) AS VARCHAR), '-', CAST(max(built_at) AS VARCHAR)) AS digest
FROM restatements
WHERE org_id IN (SELECT org_id FROM wanted)
  AND day BETWEEN $from AND $to
GROUP BY
  org_id,
  day
