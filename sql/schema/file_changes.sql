-- One row is one change that an agent made to a file.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW file_changes AS
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
  path,
  operation,
  lines_added,
  lines_removed
FROM counted_events
WHERE type = 'file_change'
