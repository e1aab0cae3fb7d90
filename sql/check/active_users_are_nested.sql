-- A user who is active on a day is active in its week, and a user who is active in its week is active in its month.
SELECT
  org_id,
  day,
  'active users of the day, week and month: '
    || CAST(daily_active_users AS VARCHAR)
    || ', ' || CAST(weekly_active_users AS VARCHAR)
    || ', ' || CAST(monthly_active_users AS VARCHAR) AS difference
FROM activity
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (daily_active_users <= weekly_active_users AND weekly_active_users <= monthly_active_users)
