-- One row is one user who was active on one day: there was at least one event of any type.
-- Grain: (org_id, day, user_id).
CREATE OR REPLACE VIEW active_users AS
SELECT DISTINCT
  org_id,
  day,
  user_id
FROM user_sessions
