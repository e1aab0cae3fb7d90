-- One row is one built day: how many people used its agents.
-- Grain: (date).
-- Shown first: date, daily_active_users, sessions, user_messages, messages, weekly_active_users, monthly_active_users,
-- daily_active_users_by_client.
WITH client_of_day AS (
  SELECT
    day,
    client,
    daily_active_users,
    4 AS place
  FROM report_activity_by_client
  UNION ALL
  -- These clients always come, and come first.
  SELECT
    day,
    client,
    0,
    place
  FROM report_activity
  CROSS JOIN (VALUES ('terminal-ui', 1), ('web', 2), ('non-interactive-cli', 3)) AS listed (client, place)
  WHERE is_guarded = 0
),
users_of_client AS (
  SELECT
    day,
    client,
    sum(daily_active_users) AS users,
    min(place) AS place
  FROM client_of_day
  GROUP BY
    day,
    client
),
clients_of_day AS (
  SELECT
    day,
    map_from_entries(list({ 'key': client, 'value': users } ORDER BY place, users DESC, client)) AS clients
  FROM users_of_client
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(daily_active_users AS BIGINT) AS daily_active_users,  -- users who were active on the day, e.g. 12
  CAST(weekly_active_users AS BIGINT) AS weekly_active_users,  -- users who were active on this day or the 6 before, e.g. 31
  CAST(monthly_active_users AS BIGINT) AS monthly_active_users,  -- users who were active on this day or the 29 before, e.g. 48
  CAST(coalesce(clients, MAP {}) AS MAP(VARCHAR, BIGINT)) AS daily_active_users_by_client,  -- users by client; a user of several clients counts for each of them, e.g. {"terminal-ui": 11, "web": 2, "non-interactive-cli": 0}
  CAST(sessions AS BIGINT) AS sessions,  -- sessions started, e.g. 40
  CAST(messages AS BIGINT) AS messages,  -- messages of users and agents, e.g. 512
  CAST(user_messages AS BIGINT) AS user_messages  -- messages of users, e.g. 88
FROM report_activity
LEFT JOIN clients_of_day USING (day)
ORDER BY date
