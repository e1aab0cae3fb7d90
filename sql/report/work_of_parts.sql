-- One row is what one user did on one day in one part of a session. It has filters and groups by user, agent, client and repository.
-- Grain: (day, user_id, session_id, agent, client, repo).
SELECT
  day,
  group_key_of($group_by, user_id, agent, client, repo, '') AS group_key,
  user_id,
  sessions,
  user_messages AS user_turns,
  tool_calls,
  files_created + files_edited AS files,
  git_commits AS commits,
  git_prs_created AS pull_requests
FROM session_parts
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR user_id IN $user_id)
  AND ($agent IS NULL OR agent IN $agent)
  AND ($client IS NULL OR client IN $client)
  AND ($repo IS NULL OR repo IN $repo)
