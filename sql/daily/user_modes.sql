-- One row is one autonomy mode in which one agent of one user worked on one day.
-- Grain: (org_id, day, user_id, autonomy_mode, agent).
-- Looks back: 0 days.
WITH
worked AS (
  SELECT
    org_id,
    day,
    user_id,
    coalesce(autonomy_mode, '') AS autonomy_mode,
    coalesce(agent, '') AS agent,
    count(*) FILTER (WHERE type = 'tool_call') AS tool_calls,
    count(*) FILTER (WHERE type = 'user_message') AS user_turns
  FROM counted_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND (type = 'user_message' OR (type = 'tool_call' AND is_tool_name(tool_name)))
  GROUP BY
    org_id,
    day,
    user_id,
    coalesce(autonomy_mode, ''),
    coalesce(agent, '')
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(autonomy_mode AS VARCHAR) AS autonomy_mode,
  CAST(agent AS VARCHAR) AS agent,
  CAST(autonomy_level(autonomy_mode) AS VARCHAR) AS autonomy_level,
  CAST(tool_calls AS BIGINT) AS tool_calls,
  CAST(user_turns AS BIGINT) AS user_turns
FROM worked
