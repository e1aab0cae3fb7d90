-- One row is what one batch brought for one organization.
-- Reads batch_files, arrivals and new_rejects. Variables: batch.
-- Grain: (batch, org_id).
WITH
sender AS (
  SELECT DISTINCT org_id
  FROM batch_files
),
brought AS (
  SELECT
    org_id,
    sum(accepted) AS accepted,
    sum(duplicates) AS duplicates
  FROM arrivals
  WHERE batch = getvariable('batch')
  GROUP BY org_id
),
refused AS (
  SELECT
    org_id,
    count(*) AS rejected
  FROM new_rejects
  GROUP BY org_id
)
SELECT
  CAST(getvariable('batch') AS BIGINT) AS batch,
  org_id,
  CAST($source AS VARCHAR) AS source,
  make_timestamp_ms($settled_at) AS settled_at,
  CAST(coalesce(accepted, 0) AS BIGINT) AS accepted,
  CAST(coalesce(duplicates, 0) AS BIGINT) AS duplicates,
  CAST(coalesce(rejected, 0) AS BIGINT) AS rejected,
  CAST($token AS VARCHAR) AS token
FROM sender
LEFT JOIN brought USING (org_id)
LEFT JOIN refused USING (org_id)
