-- One row is one table with rows of one day of an organization that is in `wanted`: what the builds of the day recorded, or which of its
-- lines were rejected. The digest changes with the rows.
-- Grain: (org_id, day, table_name).
SELECT
  org_id,
  day,
  recorded_in AS table_name,
  CAST(count(*) AS BIGINT) AS row_count,
  CAST(checksum(row_key) AS VARCHAR) AS digest
FROM (
  SELECT
    org_id,
    day,
    'digests' AS recorded_in,
    concat(table_name, ' ', digest) AS row_key
  FROM digests
  UNION ALL
  -- Rows of the others never change, so their keys tell them apart.
  SELECT
    org_id,
    day,
    'rejects' AS recorded_in,
    concat(CAST(batch AS VARCHAR), ' ', CAST(line_no AS VARCHAR), ' ', source) AS row_key
  FROM rejects
  UNION ALL
  SELECT
    org_id,
    day,
    'restatements' AS recorded_in,
    concat(table_name, ' ', CAST(built_at AS VARCHAR)) AS row_key
  FROM restatements
) AS record
WHERE org_id IN (SELECT org_id FROM wanted)
  AND day BETWEEN $from AND $to
GROUP BY
  org_id,
  day,
  recorded_in
