-- One row is one skill that one user used with one agent on one day.
-- Grain: (org_id, day, user_id, skill_name, agent).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(skill_name AS VARCHAR) AS skill_name,
  CAST(coalesce(agent, '') AS VARCHAR) AS agent,
  CAST(count(*) AS BIGINT) AS uses
FROM skill_uses
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
GROUP BY
  org_id,
  day,
  user_id,
  skill_name,
  coalesce(agent, '')
