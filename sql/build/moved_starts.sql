-- One row is one day whose count of started sessions has changed, because a session came to an earlier day or left it.
-- Reads sessions_before: the rows of user_sessions on the due days before they were computed again. Grain: (org_id, day).
WITH
before_or_after AS (
  SELECT org_id, day, user_id, session_id, 1 AS is_before, 0 AS is_after FROM sessions_before
  UNION ALL
  SELECT org_id, day, user_id, session_id, 0 AS is_before, 1 AS is_after
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
),
-- A session that came to a day or left it.
moved AS (
  SELECT
    org_id,
    day,
    user_id,
    session_id
  FROM before_or_after
  GROUP BY
    org_id,
    day,
    user_id,
    session_id
  HAVING sum(is_before) <> sum(is_after)
),
-- Its next day is the one on which it started before, or starts now, if it has none before.
next_day AS (
  SELECT
    moved.org_id AS org_id,
    moved.day AS moved_day,
    min(CASE WHEN other.day > moved.day THEN other.day END) AS day,
    min(other.day) AS first_day
  FROM moved
  JOIN user_sessions AS other
    ON other.org_id = moved.org_id
    AND other.user_id = moved.user_id
    AND other.session_id = moved.session_id
    AND other.day <> moved.day
  GROUP BY
    moved.org_id,
    moved.day,
    moved.user_id,
    moved.session_id
)
SELECT DISTINCT
  org_id,
  day
FROM next_day
WHERE day IS NOT NULL
  AND first_day > moved_day
  AND (org_id, day) NOT IN (SELECT org_id, day FROM due)
