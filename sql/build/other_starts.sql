-- One row is one session of the due days, as they were or as they are now, that has other days as well: the first of those. This is
-- all that a build needs of days that are neither due nor in a window, and it reads them once.
-- Reads sessions_before: the rows of user_sessions on the due days before they were computed again. Grain: (org_id, user_id, session_id).
WITH
due_session AS (
  SELECT org_id, user_id, session_id FROM sessions_before
  UNION ALL
  SELECT org_id, user_id, session_id FROM user_sessions WHERE (org_id, day) IN (SELECT org_id, day FROM due)
)
SELECT
  org_id,
  user_id,
  session_id,
  min(day) AS day
FROM user_sessions
-- Of all days only the ids of sessions are read, and the rest of those that are found.
WHERE session_id IN (SELECT session_id FROM due_session)
  AND (org_id, user_id, session_id) IN (SELECT org_id, user_id, session_id FROM due_session)
  AND (org_id, day) NOT IN (SELECT org_id, day FROM due)
GROUP BY
  org_id,
  user_id,
  session_id
