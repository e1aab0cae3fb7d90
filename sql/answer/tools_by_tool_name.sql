-- One row is one tool that was called on a built day.
-- Grain: (date, group_key).
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(tool_key AS VARCHAR) AS group_key,  -- the tool, e.g. Edit
  CAST(tool_calls AS BIGINT) AS tool_calls  -- calls of the tool, e.g. 171
FROM report_tools_by_tool
ORDER BY
  date,
  tool_calls DESC,
  group_key
