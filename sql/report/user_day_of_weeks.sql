-- One row is what one user did in one of the weeks that are read as such (whole_weeks), or on one day outside of them. It has groups by
-- user.
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
  AND (day < $weeks_from OR day > $weeks_to)
  AND (day < $previous_weeks_from OR day > $previous_weeks_to)
UNION ALL
SELECT
  day,
  CASE $group_by WHEN 'user' THEN user_id ELSE '' END AS group_key,
  user_id,
  active_days AS user_days,
  sessions,
  user_messages AS user_turns,
  tool_calls,
  files,
  git_commits AS commits,
  git_prs_created AS pull_requests
FROM user_weeks
WHERE org_id = $org_id
  AND (day BETWEEN $weeks_from AND $weeks_to OR day BETWEEN $previous_weeks_from AND $previous_weeks_to)
