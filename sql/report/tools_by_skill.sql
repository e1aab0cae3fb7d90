-- One row is one skill that was used on a built day.
-- Grain: (day, skill_name).
SELECT
  CAST(day AS DATE) AS day,
  CAST(skill_name AS VARCHAR) AS skill_name,
  CAST(sum(uses) AS BIGINT) AS uses
FROM user_skills
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  skill_name
