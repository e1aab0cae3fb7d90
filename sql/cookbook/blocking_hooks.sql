-- Which hooks block agents?
--
-- One row is one hook command with its event: how often it ran, how many runs have a known exit code, and how many blocked (2), failed otherwise or timed out.
-- Blocking is what such a hook is for. But if it often blocks many users, tell agents about its rule beforehand. Runs without an exit code are not counted as blocked or failed.
-- Grain: (hook_event, command).
SELECT
  CAST(hook_event AS VARCHAR) AS hook_event,
  CAST(left(command, 60) AS VARCHAR) AS command_start,
  CAST(count(*) AS BIGINT) AS runs,
  CAST(count(exit_code) AS BIGINT) AS with_exit_code,
  CAST(count(*) FILTER (WHERE exit_code = 2) AS BIGINT) AS blocked,
  CAST(count(*) FILTER (WHERE exit_code NOT IN (0, 2)) AS BIGINT) AS failed,
  CAST(count(*) FILTER (WHERE timed_out) AS BIGINT) AS out_of_time,
  CAST(count(DISTINCT user_id) AS BIGINT) AS users
FROM hook_runs
WHERE day BETWEEN $from AND $to
GROUP BY
  hook_event,
  command
ORDER BY
  blocked DESC,
  failed DESC,
  out_of_time DESC,
  runs DESC,
  hook_event,
  command
LIMIT 10
