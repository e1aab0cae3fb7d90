-- One row is one tool that one agent of one user called on one day.
-- Grain: (org_id, day, user_id, tool_key, server_key, agent).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(tool_key AS VARCHAR) AS tool_key,
  CAST(server_key AS VARCHAR) AS server_key,
  CAST(agent AS VARCHAR) AS agent,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(failed_calls) AS BIGINT) AS failed_calls,
  CAST(sum(calls_with_outcome) AS BIGINT) AS calls_with_outcome
FROM session_tools
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
GROUP BY
  org_id,
  day,
  user_id,
  tool_key,
  server_key,
  agent
