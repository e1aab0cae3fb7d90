-- One row is one tool that was called on a built day.
-- Grain: (date, group_key).
SELECT
  CAST(day AS DATE) AS date,
  CAST(tool_key AS VARCHAR) AS group_key,
  CAST(tool_calls AS BIGINT) AS tool_calls
FROM report_tools_by_tool
ORDER BY
  date,
  tool_calls DESC,
  group_key
