-- One row is one line that was no JSON and was mended: what could be read of it counts.
-- Reads numbered (every line of the files with faults), line_days (the days of their events) and batch_files.
-- Variables: batch, places (how many numbers each line has, of which a mended one uses several).
-- Grain: (source, line_no).
-- TRICKY: every file is in batch_files, and the joins are LEFT all the same: see rejects.sql.
WITH
mended AS MATERIALIZED (
  SELECT
    source,
    line_no
  FROM numbered
  WHERE is_mended
)
SELECT
  CAST(getvariable('batch') AS BIGINT) AS batch,
  org_id,
  coalesce(min(line_days.day), CAST(min(received_at) AS DATE)) AS day,
  name AS source,
  line_no // CAST(getvariable('places') AS BIGINT) AS line_no
FROM mended
LEFT JOIN batch_files USING (source)
LEFT JOIN line_days USING (source, line_no)
GROUP BY
  org_id,
  name,
  line_no // CAST(getvariable('places') AS BIGINT)
