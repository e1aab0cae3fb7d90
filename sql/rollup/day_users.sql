-- One row is one day of one organization: the sums of its users.
-- Grain: (org_id, day).
SELECT
  org_id,
  day,
  CAST(count(*) AS BIGINT) AS active_users,
  CAST(sum(sessions) AS BIGINT) AS sessions,
  CAST(sum(user_messages) AS BIGINT) AS user_messages,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(files_created + files_edited) AS BIGINT) AS files,
  CAST(sum(git_commits) AS BIGINT) AS git_commits,
  CAST(sum(git_prs_created) AS BIGINT) AS git_prs_created
FROM users
GROUP BY
  org_id,
  day
