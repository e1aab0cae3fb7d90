-- How is the use of agents growing?
--
-- One row is one month: the highest number of users on a day, and the users of the trailing 7 and 30 days on the month's last built day.
-- In the current month that is the newest built day. `new_users` have their first event in the month, so the first month includes everyone who used agents before.
-- Grain: (month).
WITH
month_activity AS (
  SELECT
    date_trunc('month', day) AS month,
    count(*) FILTER (WHERE daily_active_users > 0) AS active_days,
    max(daily_active_users) AS daily_active_users_max,
    argMax(weekly_active_users, day) AS weekly_active_users,
    argMax(monthly_active_users, day) AS monthly_active_users,
    sum(sessions) AS sessions
  FROM activity
  WHERE day BETWEEN $from AND $to
  GROUP BY date_trunc('month', day)
),
first_day AS (
  SELECT
    user_id,
    min(day) AS day
  FROM active_users
  GROUP BY user_id
),
month_newcomers AS (
  SELECT
    date_trunc('month', day) AS month,
    count(*) AS new_users
  FROM first_day
  GROUP BY date_trunc('month', day)
)
SELECT
  CAST(month AS DATE) AS month,
  CAST(month_activity.active_days AS BIGINT) AS active_days,
  CAST(month_activity.daily_active_users_max AS BIGINT) AS daily_active_users_max,
  CAST(month_activity.weekly_active_users AS BIGINT) AS weekly_active_users,
  CAST(month_activity.monthly_active_users AS BIGINT) AS monthly_active_users,
  CAST(coalesce(month_newcomers.new_users, 0) AS BIGINT) AS new_users,
  CAST(month_activity.sessions AS BIGINT) AS sessions
FROM month_activity
LEFT JOIN month_newcomers USING (month)
ORDER BY month
