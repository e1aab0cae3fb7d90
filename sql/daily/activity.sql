-- One row is one day of one organization: how many people used its agents.
-- Grain: (org_id, day).
-- Looks back: 29 days.
WITH
-- One row is one day of a trailing window.
window_day AS (
  SELECT
    due.org_id AS org_id,
    due.day AS day,
    due.day - CAST(trailing_days.days_back AS INTEGER) AS seen_on,
    trailing_days.days_back AS days_back
  FROM due
  CROSS JOIN trailing_days
),
-- One row is one user in one window, with the newest day on which the user was active.
window_user AS (
  SELECT
    window_day.org_id AS org_id,
    window_day.day AS day,
    min(window_day.days_back) AS days_back
  FROM window_day
  JOIN user_sessions
    ON user_sessions.org_id = window_day.org_id
    AND user_sessions.day = window_day.seen_on
  GROUP BY
    window_day.org_id,
    window_day.day,
    user_sessions.user_id
),
active AS (
  SELECT
    org_id,
    day,
    count(*) FILTER (WHERE days_back = 0) AS daily_active_users,
    count(*) FILTER (WHERE days_back < 7) AS weekly_active_users,
    count(*) AS monthly_active_users
  FROM window_user
  GROUP BY
    org_id,
    day
),
person AS (
  SELECT
    org_id,
    day,
    sum(sessions) AS sessions,
    sum(messages) AS messages,
    sum(user_messages) AS user_messages
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(coalesce(active.daily_active_users, 0) AS BIGINT) AS daily_active_users,
  CAST(coalesce(active.weekly_active_users, 0) AS BIGINT) AS weekly_active_users,
  CAST(coalesce(active.monthly_active_users, 0) AS BIGINT) AS monthly_active_users,
  CAST(coalesce(person.sessions, 0) AS BIGINT) AS sessions,
  CAST(coalesce(person.messages, 0) AS BIGINT) AS messages,
  CAST(coalesce(person.user_messages, 0) AS BIGINT) AS user_messages
FROM due
LEFT JOIN active USING (org_id, day)
LEFT JOIN person USING (org_id, day)
