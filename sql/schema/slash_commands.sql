-- One row is one use of a slash command.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW slash_commands AS
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
  stripped(command_name) AS command_name  -- without the leading slash
FROM counted_events
WHERE type = 'slash_command'
