-- One row is one day whose count of started sessions has changed, because sessions came to the due days or left them: the
-- day on which such a session started before, and the one on which it starts now. Due days are among them: they are being
-- built anyway, and this says why their rows change.
-- Reads sessions_before: the rows of user_sessions on the due days before they were computed again. Grain: (org_id, day).
WITH
on_due_day AS (
  SELECT org_id, day, user_id, session_id, 1 AS was_there, 0 AS is_there FROM sessions_before
  UNION ALL
  SELECT org_id, day, user_id, session_id, 0 AS was_there, 1 AS is_there
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
),
moved AS (
  SELECT DISTINCT
    org_id,
    user_id,
    session_id
  FROM (
    SELECT
      org_id,
      user_id,
      session_id,
      day
    FROM on_due_day
    GROUP BY
      org_id,
      user_id,
      session_id,
      day
    HAVING sum(was_there) <> sum(is_there)
  )
),
-- The days of such sessions, before and now. Days that aren't due are the same in both.
session_day AS (
  SELECT
    org_id,
    user_id,
    session_id,
    day,
    was_there,
    is_there
  FROM on_due_day
  WHERE (org_id, user_id, session_id) IN (SELECT org_id, user_id, session_id FROM moved)
  UNION ALL
  SELECT
    org_id,
    user_id,
    session_id,
    day,
    1 AS was_there,
    1 AS is_there
  FROM user_sessions
  WHERE (org_id, user_id, session_id) IN (SELECT org_id, user_id, session_id FROM moved)
    AND (org_id, day) NOT IN (SELECT org_id, day FROM due)
),
start_day AS (
  SELECT
    org_id,
    min(CASE WHEN was_there = 1 THEN day END) AS before_day,
    min(CASE WHEN is_there = 1 THEN day END) AS day
  FROM session_day
  GROUP BY
    org_id,
    user_id,
    session_id
),
touched AS (
  SELECT org_id, before_day AS day FROM start_day WHERE before_day IS DISTINCT FROM day
  UNION
  SELECT org_id, day FROM start_day WHERE before_day IS DISTINCT FROM day
)
SELECT
  org_id,
  day
FROM touched
WHERE day IS NOT NULL
