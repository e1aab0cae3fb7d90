-- One row is one built day: how many people used its agents.
-- Grain: (date).
WITH clients_of_day AS (
  SELECT
    day,
    list({ 'key': CAST(client AS VARCHAR), 'value': CAST(daily_active_users AS BIGINT) } ORDER BY daily_active_users DESC, client) AS clients
  FROM report_activity_by_client
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,
  CAST(daily_active_users AS BIGINT) AS daily_active_users,
  CAST(weekly_active_users AS BIGINT) AS weekly_active_users,
  CAST(monthly_active_users AS BIGINT) AS monthly_active_users,
  -- The listed clients are there always.
  map_from_entries(
    list_concat(
      list_filter(
        [
          { 'key': 'terminal-ui', 'value': CAST(0 AS BIGINT) },
          { 'key': 'web', 'value': CAST(0 AS BIGINT) },
          { 'key': 'non-interactive-cli', 'value': CAST(0 AS BIGINT) }
        ],
        lambda listed: NOT list_contains(list_transform(coalesce(clients, []), lambda used: used.key), listed.key)
      ),
      coalesce(clients, [])
    )
  ) AS daily_active_users_by_client,
  CAST(sessions AS BIGINT) AS sessions,
  CAST(messages AS BIGINT) AS messages,
  CAST(user_messages AS BIGINT) AS user_messages
FROM report_activity
LEFT JOIN clients_of_day USING (day)
ORDER BY date
