-- One row is one tool call: a tool invocation whose tool name is not a parse artifact.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW tool_calls AS
SELECT
  org_id,
  day,
  event_id,
  occurred_at,
  user_id,
  session_id,
  client,
  autonomy_mode,
  agent,
  agent_version,
  repo,
  git_branch,
  cwd,
  tool_key(tool_name, mcp_server) AS tool_key,
  server_key(tool_name, mcp_server) AS server_key,  -- null if it is not an MCP call
  autonomy_level(autonomy_mode) AS autonomy_level,
  success,
  duration_ms
FROM counted_events
WHERE type = 'tool_call'
  AND is_tool_name(tool_name)
