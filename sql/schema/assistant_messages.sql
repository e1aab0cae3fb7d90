-- One row is one message of an agent.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW assistant_messages AS
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
WHERE type = 'assistant_message'
