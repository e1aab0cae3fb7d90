-- One row is one file of the batch, as it was before it was read.
-- Reads batch_files and new_rejects. Variables: batch.
-- Grain: (org_id, source, user_id, path).
SELECT DISTINCT
  org_id,
  CAST($source AS VARCHAR) AS source,
  coalesce(file_user_id, '') AS user_id,
  name AS path,
  -- A file with rejected lines is read again, to report them again; lines from the future may be accepted then. Its state keeps only the
  -- hash of what its source's SQL computes, which shows when that changes.
  CASE WHEN name IN (SELECT source FROM new_rejects) THEN ' ' || split_part(state, ' ', 2) ELSE state END AS state,
  CAST(getvariable('batch') AS BIGINT) AS batch
FROM batch_files
WHERE state IS NOT NULL
