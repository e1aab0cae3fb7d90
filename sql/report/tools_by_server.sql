-- One row is one MCP server that was called on a built day.
-- Grain: (day, server_key).
SELECT
  CAST(day AS DATE) AS day,
  CAST(server_key AS VARCHAR) AS server_key,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(failed_calls) AS BIGINT) AS failed_calls,
  CAST(sum(calls_with_outcome) AS BIGINT) AS calls_with_outcome
FROM day_tools
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND server_key <> ''
GROUP BY
  day,
  server_key
