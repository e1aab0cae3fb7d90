-- One row is one use of a skill.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW skill_uses AS
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
  stripped(skill_name) AS skill_name
FROM counted_events
WHERE type = 'skill_use'
