-- The touches of builds that count, until the day's own build.
CREATE OR REPLACE VIEW touches AS
SELECT DISTINCT
  touches_rows.org_id AS org_id,
  touches_rows.day AS day
FROM touches_rows
LEFT JOIN newest_days
  ON newest_days.org_id = touches_rows.org_id
  AND newest_days.day = touches_rows.day
WHERE build_counts(touches_rows.build)
  AND touches_rows.build > coalesce(newest_days.build, 0)
