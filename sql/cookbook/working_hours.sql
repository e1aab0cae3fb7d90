-- When do people and their agents work?
--
-- One row is one hour of a weekday in which the agents of a user called tools: weekday 1 is Monday, and days and hours are in UTC.
-- The numbers are sums over all weeks of the range. Calls that a schedule or a pipeline started are among them.
-- Grain: (user_id, weekday, hour).
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(date_diff('day', date_trunc('week', day), day) + 1 AS BIGINT) AS weekday,
  CAST(hour(occurred_at) AS BIGINT) AS hour,
  CAST(count(*) AS BIGINT) AS tool_calls
FROM tool_calls
WHERE day BETWEEN $from AND $to
GROUP BY
  user_id,
  weekday,
  hour
ORDER BY
  user_id,
  weekday,
  hour
