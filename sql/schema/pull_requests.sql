-- One row is one pull request that an agent opened.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW pull_requests AS
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
  url
FROM counted_events
WHERE type = 'pull_request'
