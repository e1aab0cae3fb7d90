-- One row is one user, with totals of the built days in the range.
-- Grain: (user_id).
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(min(day) AS DATE) AS first_day,
  CAST(max(day) AS DATE) AS last_day,
  CAST(count(*) AS BIGINT) AS active_days,
  CAST(sum(sessions) AS BIGINT) AS sessions,
  CAST(sum(user_messages) AS BIGINT) AS user_turns,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(files_created + files_edited) AS BIGINT) AS files,
  CAST(sum(git_commits) AS BIGINT) AS commits,
  CAST(sum(billable_tokens) AS BIGINT) AS billable_tokens
FROM users
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY user_id
ORDER BY
  sum(billable_tokens) DESC,
  user_id
