-- One row is one session in which a chosen model or tool occurs on one day, and the group by which it is found.
-- Grain: (day, user_id, session_id, found_by).
WITH
-- The sessions that have a part with the agent, client and repository of the filters: others give no rows.
filtered_session AS (
  SELECT
    day,
    user_id,
    session_id
  FROM session_parts
  WHERE org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id IN $user_id)
    AND ($agent IS NULL OR agent IN $agent)
    AND ($client IS NULL OR client IN $client)
    AND ($repo IS NULL OR repo IN $repo)
),
with_model AS (
  SELECT DISTINCT
    day,
    user_id,
    session_id,
    CASE $group_by WHEN 'model' THEN model_id WHEN 'model_key' THEN model_key(model_id) ELSE '' END AS found_by
  FROM session_models
  WHERE $has_model = 1
    AND org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id IN $user_id)
    AND ($model IS NULL OR model_id IN $model)
    AND (
      $agent IS NULL AND $client IS NULL AND $repo IS NULL
      OR (day, user_id, session_id) IN (SELECT day, user_id, session_id FROM filtered_session)
    )
),
with_call AS (
  SELECT DISTINCT
    day,
    user_id,
    session_id,
    CASE $group_by WHEN 'tool' THEN tool_key WHEN 'mcp_server' THEN server_key ELSE '' END AS found_by
  FROM session_tools
  WHERE $has_call = 1
    AND org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND ($user_id IS NULL OR user_id IN $user_id)
    AND ($tool IS NULL OR tool_key IN $tool)
    AND ($mcp_server IS NULL OR server_key IN $mcp_server)
    AND ($group_by <> 'mcp_server' OR server_key <> '')
    AND (
      $agent IS NULL AND $client IS NULL AND $repo IS NULL
      OR (day, user_id, session_id) IN (SELECT day, user_id, session_id FROM filtered_session)
    )
)
SELECT
  day,
  user_id,
  session_id,
  found_by
FROM with_model
WHERE $has_call = 0
UNION ALL
SELECT
  day,
  user_id,
  session_id,
  found_by
FROM with_call
WHERE $has_model = 0
UNION ALL
SELECT
  with_call.day AS day,
  with_call.user_id AS user_id,
  with_call.session_id AS session_id,
  CASE WHEN $group_by IN ('model', 'model_key') THEN with_model.found_by ELSE with_call.found_by END AS found_by
FROM with_call
JOIN with_model
  ON with_model.day = with_call.day
  AND with_model.user_id = with_call.user_id
  AND with_model.session_id = with_call.session_id
