-- The touches of builds that count, until the day's own build; the running build sees its own besides.
CREATE OR REPLACE VIEW touches AS
SELECT DISTINCT
  touches_rows.org_id AS org_id,
  touches_rows.day AS day
FROM touches_rows
LEFT JOIN newest_days
  ON newest_days.org_id = touches_rows.org_id
  AND newest_days.day = touches_rows.day
WHERE (
    touches_rows.build <= (SELECT max(version) FROM days_rows)
    OR concat('daybook build ', toString(touches_rows.build)) = getSetting('log_comment')
  )
  AND touches_rows.build NOT IN (SELECT number FROM abandoned WHERE kind = 'build')
  AND touches_rows.build > coalesce(newest_days.build, 0)
