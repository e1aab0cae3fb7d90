-- One row is one autonomy level in which tools were called on a built day; unknown is that of calls without a known mode.
-- Grain: (day, autonomy_level).
SELECT
  CAST(day AS DATE) AS day,
  CAST(autonomy_level AS VARCHAR) AS autonomy_level,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls
FROM user_modes
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND tool_calls > 0
GROUP BY
  day,
  autonomy_level
