-- One row is what one user did on one day in one group. It has filters and groups by user, agent, client and repository.
-- Grain: (day, group_key, user_id).
SELECT
  day,
  CASE $group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent WHEN 'client' THEN client WHEN 'repo' THEN repo ELSE '' END AS group_key,
  user_id,
  sum(sessions) AS sessions,
  sum(user_messages) AS user_turns,
  sum(tool_calls) AS tool_calls,
  sum(files_created + files_edited) AS files,
  sum(git_commits) AS commits,
  sum(git_prs_created) AS pull_requests
FROM session_parts
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR user_id = $user_id)
  AND ($agent IS NULL OR agent = $agent)
  AND ($client IS NULL OR client = $client)
  AND ($repo IS NULL OR repo = $repo)
GROUP BY
  day,
  group_key,
  user_id
