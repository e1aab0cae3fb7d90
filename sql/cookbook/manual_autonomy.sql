-- Who is stuck at manual autonomy?
--
-- One row is one user: the share of tool calls in `manual` or `spec` mode, and the number of days without any other mode. The users at the top confirm every step.
-- Only tool calls with a known mode count. `unknown_tool_calls` come from agents that don't report it; a user with only these has no ratio.
-- Grain: (user_id).
WITH
user_day AS (
  SELECT
    user_id,
    day,
    sum(tool_calls) AS tool_calls,
    sum(CASE WHEN autonomy_level = 'manual' THEN tool_calls ELSE 0 END) AS manual,
    sum(CASE WHEN autonomy_level = 'unknown' THEN tool_calls ELSE 0 END) AS unknown
  FROM user_modes
  WHERE day BETWEEN $from AND $to
  GROUP BY
    user_id,
    day
)
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(sum(tool_calls - unknown) AS BIGINT) AS known_tool_calls,
  CAST(sum(manual) AS BIGINT) AS manual_tool_calls,
  CAST(round(CAST(sum(manual) AS DOUBLE) / nullif(sum(tool_calls - unknown), 0), 3) AS DOUBLE) AS manual_ratio,
  CAST(count(*) FILTER (WHERE tool_calls > unknown) AS BIGINT) AS days,
  CAST(count(*) FILTER (WHERE tool_calls > unknown AND manual = tool_calls - unknown) AS BIGINT) AS manual_days,
  CAST(sum(unknown) AS BIGINT) AS unknown_tool_calls
FROM user_day
GROUP BY user_id
ORDER BY
  manual_ratio DESC NULLS LAST,
  known_tool_calls DESC,
  user_id
