-- Who tried agents and stopped?
--
-- One row is one user who was active in the range, but not in its last 30 days.
-- Few active days mean that somebody tried agents and left, many that a habit ended. Holidays, another team or a new user id look the same.
-- Grain: (user_id).
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(min(day) AS DATE) AS first_day,
  CAST(max(day) AS DATE) AS last_day,
  CAST(count(*) AS BIGINT) AS active_days,
  CAST(date_diff('day', max(day), CAST($to AS DATE)) AS BIGINT) AS days_since,
  CAST(sum(user_messages) AS BIGINT) AS user_turns,
  CAST(sum(billable_tokens) AS BIGINT) AS billable_tokens
FROM users
WHERE day BETWEEN $from AND $to
GROUP BY user_id
HAVING date_diff('day', max(day), CAST($to AS DATE)) >= 30
ORDER BY
  days_since DESC,
  user_id
