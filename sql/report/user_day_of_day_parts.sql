-- One row is what all users did on one day with one agent, on one client and in one repository. It has filters and groups by these.
-- Grain: (day, agent, client, repo).
SELECT
  day,
  group_key_of($group_by, '', agent, client, repo, '') AS group_key,
  0 AS user_days,
  sessions,
  user_messages AS user_turns,
  tool_calls,
  files,
  git_commits AS commits,
  git_prs_created AS pull_requests
FROM day_parts
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($agent IS NULL OR agent = $agent)
  AND ($client IS NULL OR client = $client)
  AND ($repo IS NULL OR repo = $repo)
