-- One row is one run of a configured hook command.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW hook_runs AS
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
  hook_event,
  coalesce(matcher, '') AS matcher,
  command,
  exit_code,
  duration_ms,
  timed_out
FROM counted_events
WHERE type = 'hook_run'
