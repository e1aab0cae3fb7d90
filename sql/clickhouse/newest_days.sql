-- The built days, each with the build that has its rows: of a day's rows here, the one with the highest version.
CREATE OR REPLACE VIEW newest_days AS
SELECT *
FROM days_rows
WHERE own_build_counts(version)
ORDER BY version DESC
LIMIT 1 BY
  org_id,
  day
