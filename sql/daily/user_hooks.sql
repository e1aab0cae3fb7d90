-- One row is one hook command that ran for one agent of one user on one day.
-- Grain: (org_id, day, user_id, hook_event, matcher, command, agent).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(hook_event AS VARCHAR) AS hook_event,
  CAST(matcher AS VARCHAR) AS matcher,
  CAST(command AS VARCHAR) AS command,
  CAST(coalesce(agent, '') AS VARCHAR) AS agent,
  CAST(count(*) AS BIGINT) AS runs
FROM hook_runs
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
GROUP BY
  org_id,
  day,
  user_id,
  hook_event,
  matcher,
  command,
  coalesce(agent, '')
