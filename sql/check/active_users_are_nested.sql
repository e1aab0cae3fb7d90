-- Who is active on a day is active in its week, and who is active in its week in its month.
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
