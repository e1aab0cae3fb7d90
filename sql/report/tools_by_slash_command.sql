-- One row is one slash command that was used on a built day.
-- Grain: (day, command_name).
SELECT
  CAST(day AS DATE) AS day,
  CAST(command_name AS VARCHAR) AS command_name,
  CAST(sum(uses) AS BIGINT) AS uses
FROM user_slash_commands
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  command_name
