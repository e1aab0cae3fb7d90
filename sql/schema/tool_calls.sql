-- One row is one tool call: a tool invocation whose tool name is not a parse artifact.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW tool_calls AS
SELECT
  call.org_id AS org_id,
  call.day AS day,
  call.event_id AS event_id,
  call.occurred_at AS occurred_at,
  call.user_id AS user_id,
  call.session_id AS session_id,
  call.client AS client,
  call.autonomy_mode AS autonomy_mode,
  call.agent AS agent,
  call.agent_version AS agent_version,
  call.repo AS repo,
  call.git_branch AS git_branch,
  call.cwd AS cwd,
  tool_key(call.tool_name, call.mcp_server) AS tool_key,
  server_key(call.tool_name, call.mcp_server) AS server_key,  -- null if it is not an MCP call
  autonomy_level(call.autonomy_mode) AS autonomy_level,
  CASE WHEN refused_calls.event_id IS NULL THEN call.success ELSE false END AS success,  -- null if it is not known
  coalesce(call.is_stopped, false) OR refused_calls.event_id IS NOT NULL AS is_stopped,  -- refused or interrupted, which is no failure
  call.duration_ms AS duration_ms
FROM counted_events AS call
LEFT JOIN refused_calls
  ON refused_calls.org_id = call.org_id
  AND refused_calls.day = call.day
  AND refused_calls.event_id = call.event_id
WHERE call.type = 'tool_call'
  AND is_tool_name(call.tool_name)
