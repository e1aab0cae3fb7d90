-- One row is what one user did on one day in one group, in the chosen sessions. It has all filters and groups.
-- Grain: (day, group_key, user_id).
SELECT
  day,
  group_key,
  user_id,
  sum(sessions) AS sessions,
  sum(user_turns) AS user_turns,
  sum(tool_calls) AS tool_calls,
  sum(files) AS files,
  sum(commits) AS commits,
  sum(pull_requests) AS pull_requests
FROM (
  SELECT
    session_parts.day AS day,
    CASE $group_by WHEN 'user' THEN session_parts.user_id WHEN 'agent' THEN session_parts.agent WHEN 'client' THEN session_parts.client WHEN 'repo' THEN session_parts.repo ELSE chosen_session.found_by END AS group_key,
    session_parts.user_id AS user_id,
    session_parts.sessions AS sessions,
    session_parts.user_messages AS user_turns,
    CASE WHEN $has_call = 0 THEN session_parts.tool_calls ELSE 0 END AS tool_calls,
    session_parts.files_created + session_parts.files_edited AS files,
    session_parts.git_commits AS commits,
    session_parts.git_prs_created AS pull_requests
  FROM session_parts
  JOIN chosen_session
    ON chosen_session.day = session_parts.day
    AND chosen_session.user_id = session_parts.user_id
    AND chosen_session.session_id = session_parts.session_id
  WHERE session_parts.org_id = $org_id
    AND session_parts.day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR session_parts.user_id = $user_id)
    AND ($agent IS NULL OR session_parts.agent = $agent)
    AND ($client IS NULL OR session_parts.client = $client)
    AND ($repo IS NULL OR session_parts.repo = $repo)
  UNION ALL
  -- Of a chosen tool or MCP server, only its own calls.
  SELECT
    session_tools.day AS day,
    CASE $group_by WHEN 'user' THEN session_tools.user_id WHEN 'agent' THEN session_tools.agent WHEN 'client' THEN session_tools.client WHEN 'repo' THEN session_tools.repo ELSE chosen_session.found_by END AS group_key,
    session_tools.user_id AS user_id,
    0 AS sessions,
    0 AS user_turns,
    session_tools.tool_calls AS tool_calls,
    0 AS files,
    0 AS commits,
    0 AS pull_requests
  FROM session_tools
  JOIN chosen_session
    ON chosen_session.day = session_tools.day
    AND chosen_session.user_id = session_tools.user_id
    AND chosen_session.session_id = session_tools.session_id
    AND chosen_session.found_by = CASE $group_by WHEN 'tool' THEN session_tools.tool_key WHEN 'mcp_server' THEN session_tools.server_key ELSE chosen_session.found_by END
  WHERE $has_call = 1
    AND session_tools.org_id = $org_id
    AND session_tools.day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR session_tools.user_id = $user_id)
    AND ($agent IS NULL OR session_tools.agent = $agent)
    AND ($client IS NULL OR session_tools.client = $client)
    AND ($repo IS NULL OR session_tools.repo = $repo)
    AND ($tool IS NULL OR session_tools.tool_key = $tool)
    AND ($mcp_server IS NULL OR session_tools.server_key = $mcp_server)
) AS part
GROUP BY
  day,
  group_key,
  user_id
