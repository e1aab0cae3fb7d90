-- One row is what one user did on one day. It has filters and groups by user.
-- Grain: (day, user_id).
SELECT
  day,
  CASE $group_by WHEN 'user' THEN user_id ELSE '' END AS group_key,
  user_id,
  1 AS user_days,
  sessions,
  user_messages AS user_turns,
  tool_calls,
  files_created + files_edited AS files,
  git_commits AS commits,
  git_prs_created AS pull_requests
FROM users
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR user_id = $user_id)
