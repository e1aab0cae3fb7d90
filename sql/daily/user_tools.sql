-- One row is one tool that one agent of one user called on one day.
-- Grain: (org_id, day, user_id, tool_key, server_key, agent).
-- Looks back: 0 days.
WITH
-- Keys are computed once per spelling of a name, not once per call.
spelling AS (
  SELECT
    org_id,
    day,
    user_id,
    tool_name,
    mcp_server,
    coalesce(agent, '') AS agent,
    count(*) AS tool_calls
  FROM counted_events
  WHERE type = 'tool_call'
    AND (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    tool_name,
    mcp_server,
    coalesce(agent, '')
),
keyed AS (
  SELECT
    org_id,
    day,
    user_id,
    tool_key(tool_name, mcp_server) AS tool_key,
    coalesce(server_key(tool_name, mcp_server), '') AS server_key,
    agent,
    tool_calls
  FROM spelling
  WHERE is_tool_name(tool_name)
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(tool_key AS VARCHAR) AS tool_key,
  CAST(server_key AS VARCHAR) AS server_key,
  CAST(agent AS VARCHAR) AS agent,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls
FROM keyed
GROUP BY
  org_id,
  day,
  user_id,
  tool_key,
  server_key,
  agent
