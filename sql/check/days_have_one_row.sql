-- A built day has one row in each table of days, even without events.
SELECT
  org_id,
  day,
  table_name || ' has ' || CAST(row_count AS VARCHAR) || ' rows' AS difference
FROM fresh_digests
WHERE table_name IN ('tools', 'activity', 'productivity', 'quality')
  AND row_count <> 1
