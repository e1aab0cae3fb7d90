-- One row is one tool that was called on a built day.
-- Grain: (date, group_key).
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(tool_key AS VARCHAR) AS group_key,  -- the tool, e.g. Edit
  CAST(tool_calls AS BIGINT) AS tool_calls,  -- calls of the tool, e.g. 171
  CAST(failed_calls AS BIGINT) AS failed_calls,  -- failed tool calls: refused and interrupted ones haven't failed, e.g. 8
  CAST(calls_with_outcome AS BIGINT) AS calls_with_outcome  -- tool calls that are known to have succeeded or failed, e.g. 160
FROM report_tools_by_tool
ORDER BY
  date,
  tool_calls DESC,
  group_key
