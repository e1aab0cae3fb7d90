-- One row is one slash command that one user used with one agent on one day.
-- Grain: (org_id, day, user_id, command_name, agent).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(command_name AS VARCHAR) AS command_name,
  CAST(coalesce(agent, '') AS VARCHAR) AS agent,
  CAST(count(*) AS BIGINT) AS uses
FROM slash_commands
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
GROUP BY
  org_id,
  day,
  user_id,
  command_name,
  coalesce(agent, '')
