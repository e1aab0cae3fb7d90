-- One row is one commit that an agent made.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW git_commits AS
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
  commit_sha
FROM counted_events
WHERE type = 'git_commit'
