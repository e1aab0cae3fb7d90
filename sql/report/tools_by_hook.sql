-- One row is one hook command that ran on a built day.
-- Grain: (day, hook_event, matcher, command).
SELECT
  CAST(day AS DATE) AS day,
  CAST(hook_event AS VARCHAR) AS hook_event,
  CAST(matcher AS VARCHAR) AS matcher,
  CAST(command AS VARCHAR) AS command,
  CAST(sum(runs) AS BIGINT) AS runs
FROM user_hooks
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  hook_event,
  matcher,
  command
