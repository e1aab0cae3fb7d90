-- One row is one parse artifact: a tool invocation with a name that no agent can have called. No metric counts it.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW parse_artifacts AS
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
  tool_name
FROM counted_events
WHERE type = 'tool_call'
  AND NOT is_tool_name(tool_name)
