-- One row says that a request that may tell no few people apart finds something of a person in one group on one day, or would without some of its
-- filters. missed has a letter for each filter that leaves it out, and is empty if none does. The columns of filters have what it is in those
-- that the request has, else ''. Models, tools and MCP servers are those of the same part of a session.
-- belongs_to is belongs_to.sql. quiet_day has the days that count with another one.
-- Grain: (day, group_key, user_id, agent, client, repo, team, cost_center, model, tool, mcp_server).
SELECT DISTINCT
  day,
  period,
  group_key,
  user_id,
  missed,
  agent,
  client,
  repo,
  team,
  cost_center,
  model,
  tool,
  mcp_server
FROM (
  SELECT
    part.day AS day,
    period_of($period, coalesce(quiet_day.counted_on, part.day), $from) AS period,
    part.user_id AS user_id,
    group_key_of(
      $group_by,
      part.user_id,
      part.agent,
      part.client,
      part.repo,
      team.name,
      cost_center.name,
      CASE $group_by
        WHEN 'model' THEN used.model_id
        WHEN 'model_key' THEN used.model_key
        WHEN 'tool' THEN called.tool_key
        WHEN 'mcp_server' THEN called.server_key
        ELSE ''
      END
    ) AS group_key,
    concat(
      CASE WHEN $agent IS NULL OR part.agent IN $agent THEN '' ELSE 'a' END,
      CASE WHEN $client IS NULL OR part.client IN $client THEN '' ELSE 'c' END,
      CASE WHEN $repo IS NULL OR part.repo IN $repo THEN '' ELSE 'r' END,
      CASE WHEN $team IS NULL OR coalesce(team.name, '') IN $team THEN '' ELSE 't' END,
      CASE WHEN $cost_center IS NULL OR coalesce(cost_center.name, '') IN $cost_center THEN '' ELSE 'o' END,
      CASE WHEN $model IS NULL OR coalesce(used.model_id, '') IN $model THEN '' ELSE 'm' END,
      CASE WHEN $tool IS NULL OR coalesce(called.tool_key, '') IN $tool THEN '' ELSE 'l' END,
      CASE WHEN $mcp_server IS NULL OR coalesce(called.server_key, '') IN $mcp_server THEN '' ELSE 's' END
    ) AS missed,
    CASE WHEN $agent IS NULL THEN '' ELSE part.agent END AS agent,
    CASE WHEN $client IS NULL THEN '' ELSE part.client END AS client,
    CASE WHEN $repo IS NULL THEN '' ELSE part.repo END AS repo,
    CASE WHEN $team IS NULL THEN '' ELSE coalesce(team.name, '') END AS team,
    CASE WHEN $cost_center IS NULL THEN '' ELSE coalesce(cost_center.name, '') END AS cost_center,
    CASE WHEN $model IS NULL THEN '' ELSE coalesce(used.model_id, '') END AS model,
    CASE WHEN $tool IS NULL THEN '' ELSE coalesce(called.tool_key, '') END AS tool,
    CASE WHEN $mcp_server IS NULL THEN '' ELSE coalesce(called.server_key, '') END AS mcp_server
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
  LEFT JOIN (
    SELECT DISTINCT
      day,
      user_id,
      session_id,
      agent,
      client,
      repo,
      model_id,
      model_key(model_id) AS model_key
    FROM session_models
    WHERE $has_model = 1
      AND org_id = $org_id
      AND day BETWEEN $earliest AND $to
  ) AS used
    ON used.day = part.day
    AND used.user_id = part.user_id
    AND used.session_id = part.session_id
    AND used.agent = part.agent
    AND used.client = part.client
    AND used.repo = part.repo
  LEFT JOIN (
    SELECT
      day,
      user_id,
      session_id,
      agent,
      client,
      repo,
      tool_key,
      server_key
    FROM session_tools
    WHERE $has_call = 1
      AND org_id = $org_id
      AND day BETWEEN $earliest AND $to
  ) AS called
    ON called.day = part.day
    AND called.user_id = part.user_id
    AND called.session_id = part.session_id
    AND called.agent = part.agent
    AND called.client = part.client
    AND called.repo = part.repo
  LEFT JOIN quiet_day
    ON quiet_day.day = part.day
  WHERE part.org_id = $org_id
    AND part.day BETWEEN $earliest AND $to
) AS placed
WHERE group_key IS NOT NULL
  AND ($group_by <> 'mcp_server' OR group_key <> '')
