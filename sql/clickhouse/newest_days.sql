-- The built days, each with the build that holds its rows: of the rows of a day the one with the highest version.
CREATE OR REPLACE VIEW newest_days AS
SELECT *
FROM days_rows
WHERE version NOT IN (SELECT number FROM abandoned WHERE kind = 'build')
  AND version >= 0
ORDER BY version DESC
LIMIT 1 BY
  org_id,
  day
