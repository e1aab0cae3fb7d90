-- Which tools fail most?
--
-- One row is one tool with a failed call: how many of the calls with a known outcome failed, and how many users had a failure.
-- For a shell the exit code of the command counts, so tests that fail on purpose are included. A call without a result has no outcome and is only in `tool_calls`.
-- Grain: (tool_key).
SELECT
  CAST(tool_key AS VARCHAR) AS tool_key,
  CAST(count(*) AS BIGINT) AS tool_calls,
  CAST(count(success) AS BIGINT) AS with_outcome,
  CAST(count(*) FILTER (WHERE NOT success) AS BIGINT) AS failed,
  CAST(round(ratio(count(*) FILTER (WHERE NOT success), count(success)), 3) AS DOUBLE) AS failure_ratio,
  CAST(count(DISTINCT CASE WHEN NOT success THEN user_id END) AS BIGINT) AS users
FROM tool_calls
WHERE day BETWEEN $from AND $to
GROUP BY tool_key
HAVING count(*) FILTER (WHERE NOT success) > 0
ORDER BY
  failed DESC,
  failure_ratio DESC,
  tool_key
