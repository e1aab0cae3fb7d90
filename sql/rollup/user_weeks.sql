-- One row is one user who was active in one ISO week, with the sums of the user's days. Its day is the last of the week, a Sunday.
-- Grain: (org_id, day, user_id).
SELECT
  org_id,
  last_of_week(day) AS day,
  user_id,
  CAST(count(*) AS BIGINT) AS active_days,
  CAST(sum(sessions) AS BIGINT) AS sessions,
  CAST(sum(user_messages) AS BIGINT) AS user_messages,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(files_created + files_edited) AS BIGINT) AS files,
  CAST(sum(git_commits) AS BIGINT) AS git_commits,
  CAST(sum(git_prs_created) AS BIGINT) AS git_prs_created
FROM users
GROUP BY
  org_id,
  last_of_week(day),
  user_id
