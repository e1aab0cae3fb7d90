-- The built days.
CREATE OR REPLACE VIEW days AS
SELECT * EXCEPT (build, version)
FROM newest_days
WHERE org_id <> ''
