-- One row is one day whose number of started sessions has changed, because the due days have gained or lost sessions: the day
-- on which such a session used to start, and the day on which it starts now. Due days are included: they are built anyway, and
-- this is the reason why their rows change.
-- Reads other_starts, and sessions_before: the rows of user_sessions on the due days before they were computed again.
-- Grain: (org_id, day).
WITH
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
    FROM (
      SELECT org_id, user_id, session_id, day, 1 AS was_there, 0 AS is_there FROM sessions_before
      UNION ALL
      SELECT org_id, user_id, session_id, day, 0 AS was_there, 1 AS is_there
      FROM user_sessions
      WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    )
    GROUP BY
      org_id,
      user_id,
      session_id,
      day
    HAVING sum(was_there) <> sum(is_there)
  )
),
-- The first days of such sessions, before and now. Days that aren't due are the same in both.
start_day AS (
  SELECT
    org_id,
    min(CASE WHEN was_there = 1 THEN day END) AS before_day,
    min(CASE WHEN is_there = 1 THEN day END) AS day
  FROM (
    SELECT org_id, user_id, session_id, day, 1 AS was_there, 0 AS is_there FROM sessions_before
    UNION ALL
    SELECT org_id, user_id, session_id, day, 0 AS was_there, 1 AS is_there
    FROM user_sessions
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    UNION ALL
    SELECT org_id, user_id, session_id, day, 1 AS was_there, 1 AS is_there FROM other_starts
  )
  WHERE (org_id, user_id, session_id) IN (SELECT org_id, user_id, session_id FROM moved)
  GROUP BY
    org_id,
    user_id,
    session_id
)
SELECT DISTINCT
  org_id,
  CASE WHEN is_before = 1 THEN before_day ELSE day END AS day
FROM start_day
CROSS JOIN (SELECT 1 AS is_before UNION ALL SELECT 0 AS is_before) AS side
WHERE before_day IS DISTINCT FROM day
  AND CASE WHEN is_before = 1 THEN before_day ELSE day END IS NOT NULL
