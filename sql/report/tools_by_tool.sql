-- One row is one tool that was called on a built day.
-- Grain: (day, tool_key).
SELECT
  CAST(day AS DATE) AS day,
  CAST(tool_key AS VARCHAR) AS tool_key,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(failed_calls) AS BIGINT) AS failed_calls,
  CAST(sum(calls_with_outcome) AS BIGINT) AS calls_with_outcome
FROM day_tools
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  tool_key
