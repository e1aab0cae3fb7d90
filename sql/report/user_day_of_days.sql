-- One row is what all users did on one day. It has no filters and no groups.
-- Grain: (day).
SELECT
  day,
  '' AS group_key,
  active_users AS user_days,
  sessions,
  user_messages AS user_turns,
  tool_calls,
  files,
  git_commits AS commits,
  git_prs_created AS pull_requests
FROM day_users
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
