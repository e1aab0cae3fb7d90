-- The build whose rows each day shows: of the rows of a day the one with the highest version. A row that the running build
-- has made for itself has its number below 0. Nobody else sees it: the build says who it is in a setting that every
-- ClickHouse has, and that means nothing else.
CREATE OR REPLACE VIEW visible_builds AS
SELECT
  org_id,
  day,
  argMax(build, abs(version)) AS build
FROM days_rows
WHERE version NOT IN (SELECT number FROM abandoned WHERE kind = 'build')
  AND (version >= 0 OR concat('daybook build ', toString(-version)) = getSetting('log_comment'))
GROUP BY
  org_id,
  day
