-- The sessions of the due days as they were before the running build.
CREATE OR REPLACE VIEW sessions_before AS
SELECT
  org_id,
  day,
  user_id,
  session_id
FROM user_sessions_rows
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND (org_id, day, build) IN (SELECT org_id, day, build FROM newest_days)
