-- One row is one user of one session's telemetry on one day who is no person, with the user for whom it counts.
-- Grain: (org_id, day, session_id, agent, channel, named_user_id).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(session_id AS VARCHAR) AS session_id,
  CAST(agent AS VARCHAR) AS agent,
  CAST(channel AS VARCHAR) AS channel,
  CAST(named_user_id AS VARCHAR) AS named_user_id,
  CAST(user_id AS VARCHAR) AS user_id
FROM fresh_users
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
