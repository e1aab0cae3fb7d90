-- One row is what one user did on one day in one part of a session. It has filters and groups by user, agent, client, repository, team and
-- cost centre. belongs_to is belongs_to.sql.
-- Grain: (day, user_id, session_id, agent, client, repo).
SELECT
  part.day AS day,
  group_key_of($group_by, part.user_id, part.agent, part.client, part.repo, team.name, cost_center.name, '') AS group_key,
  part.user_id AS user_id,
  part.session_id AS session_id,
  part.agent AS agent,
  part.client AS client,
  part.repo AS repo,
  '' AS tool_key,
  '' AS server_key,
  part.sessions AS sessions,
  part.user_messages AS user_turns,
  part.tool_calls AS tool_calls,
  part.failed_calls AS failed_calls,
  part.calls_with_outcome AS calls_with_outcome,
  part.files_created + part.files_edited AS files,
  part.git_commits AS commits,
  part.git_prs_created AS pull_requests
FROM session_parts AS part
LEFT JOIN belongs_to AS team
  ON team.kind = 'team'
  AND team.user_id = part.user_id
  AND team.first_day <= part.day
  AND team.last_day >= part.day
LEFT JOIN belongs_to AS cost_center
  ON cost_center.kind = 'cost_center'
  AND cost_center.user_id = part.user_id
  AND cost_center.first_day <= part.day
  AND cost_center.last_day >= part.day
WHERE part.org_id = $org_id
  AND part.day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR part.user_id IN $user_id)
  AND ($agent IS NULL OR part.agent IN $agent)
  AND ($client IS NULL OR part.client IN $client)
  AND ($repo IS NULL OR part.repo IN $repo)
  AND ($team IS NULL OR coalesce(team.name, '') IN $team)
  AND ($cost_center IS NULL OR coalesce(cost_center.name, '') IN $cost_center)
