-- One row is one built day whose trailing windows count other users than before, because the users of a due day in these
-- windows have changed. The events themselves make such days stale too. This matters for a day that was replaced late because a
-- check had kept it out while the days after it were built, and for one on which events of a later day changed what counts. Due
-- days are included: they are being built anyway, and this explains why their rows change.
-- Reads sessions_before: the rows of user_sessions on the due days before they were computed again. Grain: (org_id, day).
WITH
user_day AS (
  SELECT
    org_id,
    day,
    user_id,
    1 AS was_there,
    0 AS is_there
  FROM sessions_before
  GROUP BY
    org_id,
    day,
    user_id
  UNION ALL
  SELECT
    org_id,
    day,
    user_id,
    0 AS was_there,
    1 AS is_there
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
changed AS (
  SELECT DISTINCT
    org_id,
    day
  FROM (
    SELECT
      org_id,
      day,
      user_id
    FROM user_day
    GROUP BY
      org_id,
      day,
      user_id
    HAVING sum(was_there) <> sum(is_there)
  )
)
SELECT DISTINCT
  days.org_id AS org_id,
  days.day AS day
FROM days
JOIN changed
  ON changed.org_id = days.org_id
WHERE days.day BETWEEN changed.day + 1 AND changed.day + 29
