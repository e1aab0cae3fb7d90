-- One row is one user turn: a message of a person, or of the program that drives a headless run.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW user_turns AS
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
  cwd
FROM counted_events
WHERE type = 'user_message'
