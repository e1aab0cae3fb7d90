-- One row is one tool on one day: the calls of all users.
-- Grain: (org_id, day, tool_key, server_key).
SELECT
  org_id,
  day,
  tool_key,
  server_key,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(failed_calls) AS BIGINT) AS failed_calls,
  CAST(sum(calls_with_outcome) AS BIGINT) AS calls_with_outcome
FROM user_tools
GROUP BY
  org_id,
  day,
  tool_key,
  server_key
