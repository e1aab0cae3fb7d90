-- The build whose rows each day shows. The running build sees its own rows of the days that are due, nobody else does: it
-- says who it is in a setting that every ClickHouse has, and that means nothing else.
CREATE OR REPLACE VIEW visible_builds AS
SELECT
  org_id,
  day,
  build
FROM newest_days
WHERE getSetting('log_comment') <> 'daybook build'
  OR (org_id, day) NOT IN (SELECT org_id, day FROM due)
UNION ALL
SELECT
  org_id,
  day,
  (SELECT max(number) FROM attempts WHERE kind = 'build') AS build
FROM due
WHERE getSetting('log_comment') = 'daybook build'
