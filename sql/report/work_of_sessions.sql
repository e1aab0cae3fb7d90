-- One row is what one user did on one day in one part of a chosen session, or the calls of one chosen tool in it. It has all filters and
-- groups. belongs_to is belongs_to.sql.
-- Grain: (day, user_id, session_id, agent, client, repo, tool_key, server_key, group_key).
SELECT
  session_parts.day AS day,
  group_key_of($group_by, session_parts.user_id, session_parts.agent, session_parts.client, session_parts.repo, team.name, cost_center.name, chosen_session.found_by) AS group_key,
  session_parts.user_id AS user_id,
  session_parts.session_id AS session_id,
  session_parts.agent AS agent,
  session_parts.client AS client,
  session_parts.repo AS repo,
  '' AS tool_key,
  '' AS server_key,
  session_parts.sessions AS sessions,
  session_parts.user_messages AS user_turns,
  CASE WHEN $has_call = 0 THEN session_parts.tool_calls ELSE 0 END AS tool_calls,
  CASE WHEN $has_call = 0 THEN session_parts.failed_calls ELSE 0 END AS failed_calls,
  CASE WHEN $has_call = 0 THEN session_parts.calls_with_outcome ELSE 0 END AS calls_with_outcome,
  session_parts.files_created + session_parts.files_edited AS files,
  session_parts.git_commits AS commits,
  session_parts.git_prs_created AS pull_requests
FROM session_parts
JOIN chosen_session
  ON chosen_session.day = session_parts.day
  AND chosen_session.user_id = session_parts.user_id
  AND chosen_session.session_id = session_parts.session_id
LEFT JOIN belongs_to AS team
  ON team.kind = 'team'
  AND team.user_id = session_parts.user_id
  AND team.first_day <= session_parts.day
  AND team.last_day >= session_parts.day
LEFT JOIN belongs_to AS cost_center
  ON cost_center.kind = 'cost_center'
  AND cost_center.user_id = session_parts.user_id
  AND cost_center.first_day <= session_parts.day
  AND cost_center.last_day >= session_parts.day
WHERE session_parts.org_id = $org_id
  AND session_parts.day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR session_parts.user_id IN $user_id)
  AND ($agent IS NULL OR session_parts.agent IN $agent)
  AND ($client IS NULL OR session_parts.client IN $client)
  AND ($repo IS NULL OR session_parts.repo IN $repo)
  AND ($team IS NULL OR coalesce(team.name, '') IN $team)
  AND ($cost_center IS NULL OR coalesce(cost_center.name, '') IN $cost_center)
UNION ALL
-- Of a chosen tool or MCP server, only its own calls.
SELECT
  session_tools.day AS day,
  group_key_of($group_by, session_tools.user_id, session_tools.agent, session_tools.client, session_tools.repo, team.name, cost_center.name, chosen_session.found_by) AS group_key,
  session_tools.user_id AS user_id,
  session_tools.session_id AS session_id,
  session_tools.agent AS agent,
  session_tools.client AS client,
  session_tools.repo AS repo,
  session_tools.tool_key AS tool_key,
  session_tools.server_key AS server_key,
  0 AS sessions,
  0 AS user_turns,
  session_tools.tool_calls AS tool_calls,
  session_tools.failed_calls AS failed_calls,
  session_tools.calls_with_outcome AS calls_with_outcome,
  0 AS files,
  0 AS commits,
  0 AS pull_requests
FROM session_tools
JOIN chosen_session
  ON chosen_session.day = session_tools.day
  AND chosen_session.user_id = session_tools.user_id
  AND chosen_session.session_id = session_tools.session_id
  AND chosen_session.found_by = CASE $group_by WHEN 'tool' THEN session_tools.tool_key WHEN 'mcp_server' THEN session_tools.server_key ELSE chosen_session.found_by END
LEFT JOIN belongs_to AS team
  ON team.kind = 'team'
  AND team.user_id = session_tools.user_id
  AND team.first_day <= session_tools.day
  AND team.last_day >= session_tools.day
LEFT JOIN belongs_to AS cost_center
  ON cost_center.kind = 'cost_center'
  AND cost_center.user_id = session_tools.user_id
  AND cost_center.first_day <= session_tools.day
  AND cost_center.last_day >= session_tools.day
WHERE $has_call = 1
  AND session_tools.org_id = $org_id
  AND session_tools.day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR session_tools.user_id IN $user_id)
  AND ($agent IS NULL OR session_tools.agent IN $agent)
  AND ($client IS NULL OR session_tools.client IN $client)
  AND ($repo IS NULL OR session_tools.repo IN $repo)
  AND ($team IS NULL OR coalesce(team.name, '') IN $team)
  AND ($cost_center IS NULL OR coalesce(cost_center.name, '') IN $cost_center)
  AND ($tool IS NULL OR session_tools.tool_key IN $tool)
  AND ($mcp_server IS NULL OR session_tools.server_key IN $mcp_server)
