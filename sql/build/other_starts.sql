-- One row is one session of the due days, as they were or as they are now, that has other days as well: the first of those. This is
-- all that a build needs of days that are neither due nor in a window, and it reads them once.
-- Reads sessions_before: the rows of user_sessions on the due days before they were computed again. Grain: (org_id, user_id, session_id).
WITH
due_session AS MATERIALIZED (
  SELECT org_id, user_id, session_id FROM sessions_before
  UNION ALL
  SELECT org_id, user_id, session_id FROM user_sessions WHERE (org_id, day) IN (SELECT org_id, day FROM due)
),
-- Of all days only keys of sessions are read, and the rest of the days that have one of them.
possible_day AS (
  SELECT DISTINCT
    org_id,
    day
  FROM session_keys
  WHERE session_key IN (SELECT session_key(user_id, session_id) FROM due_session)
    AND (org_id, day) NOT IN (SELECT org_id, day FROM due)
)
SELECT
  org_id,
  user_id,
  session_id,
  min(day) AS day
FROM user_sessions
WHERE (org_id, day) IN (SELECT org_id, day FROM possible_day)
  AND (org_id, user_id, session_id) IN (SELECT org_id, user_id, session_id FROM due_session)
GROUP BY
  org_id,
  user_id,
  session_id
