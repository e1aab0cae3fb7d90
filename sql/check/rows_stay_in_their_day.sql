-- No row is outside its day: an event is on the UTC day of its time, and a daily query writes only rows of due days.
SELECT
  org_id,
  day,
  CAST(count(*) AS VARCHAR) || ' events of another day' AS difference
FROM events
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND CAST(occurred_at AS DATE) <> day
GROUP BY
  org_id,
  day
UNION ALL
-- The rows don't say which day's query wrote them, so this returns all due days: the build then builds one day at a time.
SELECT
  due.org_id AS org_id,
  due.day AS day,
  'that ' || CAST(outside.row_count AS VARCHAR) || ' rows of ' || outside.table_name || ' belong to other days' AS difference
FROM due
CROSS JOIN (
  SELECT
    written_rows.table_name AS table_name,
    written_rows.row_count - coalesce(found.row_count, 0) AS row_count
  FROM written_rows
  LEFT JOIN (
    SELECT
      table_name,
      sum(row_count) AS row_count
    FROM fresh_digests
    GROUP BY table_name
  ) AS found
    ON found.table_name = written_rows.table_name
) AS outside
WHERE outside.row_count <> 0
