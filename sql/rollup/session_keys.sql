-- One row is one session on one day, by a number that takes less room and time than its names (session_key).
-- Grain: (org_id, day, session_key).
SELECT
  org_id,
  day,
  session_key(user_id, session_id) AS session_key
FROM user_sessions
GROUP BY
  org_id,
  day,
  session_key(user_id, session_id)
