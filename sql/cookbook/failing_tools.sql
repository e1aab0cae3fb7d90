-- Which tools fail most?
--
-- One row is one tool with a failed call: how many of the calls with a known outcome failed, and how many users had a failure.
-- For a shell the exit code of the command counts, so tests that fail on purpose are included. A call without a result, or one that was refused or interrupted, is only in `tool_calls`.
-- Grain: (tool_key).
SELECT
  CAST(tool_key AS VARCHAR) AS tool_key,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(calls_with_outcome) AS BIGINT) AS with_outcome,
  CAST(sum(failed_calls) AS BIGINT) AS failed,
  CAST(round(ratio(sum(failed_calls), sum(calls_with_outcome)), 3) AS DOUBLE) AS failure_ratio,
  CAST(count(DISTINCT CASE WHEN failed_calls > 0 THEN user_id END) AS BIGINT) AS users
FROM user_tools
WHERE day BETWEEN $from AND $to
GROUP BY tool_key
HAVING sum(failed_calls) > 0
ORDER BY
  failed DESC,
  failure_ratio DESC,
  tool_key
