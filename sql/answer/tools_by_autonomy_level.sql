-- One row is one autonomy level in which tools were called on a built day.
-- Grain: (date, group_key).
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(autonomy_level AS VARCHAR) AS group_key,  -- the level, unknown for calls whose mode isn't known: auto_high | auto_medium | auto_low | manual | unknown
  CAST(tool_calls AS BIGINT) AS tool_calls  -- calls of tools in it, e.g. 171
FROM report_tools_by_autonomy_level
ORDER BY
  date,
  tool_calls DESC,
  group_key
