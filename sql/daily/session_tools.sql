-- One row is one tool that was called in one part of a session on one day.
-- Grain: (org_id, day, user_id, session_id, agent, client, repo, tool_key, server_key).
-- Looks back: 0 days.
WITH
spelling AS (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    coalesce(agent, '') AS agent,
    coalesce(client, '') AS client,
    coalesce(repo, '') AS repo,
    tool_name,
    -- An empty name and none are the same to server_key.
    coalesce(mcp_server, '') AS mcp_server,
    count(*) AS tool_calls
  FROM counted_events
  WHERE type = 'tool_call'
    AND (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    session_id,
    coalesce(agent, ''),
    coalesce(client, ''),
    coalesce(repo, ''),
    tool_name,
    coalesce(mcp_server, '')
),
-- Keys are computed once per spelling of a name, not once per session.
keyed AS (
  SELECT
    tool_name,
    mcp_server,
    tool_key(tool_name, mcp_server) AS tool_key,
    coalesce(server_key(tool_name, mcp_server), '') AS server_key
  FROM (
    SELECT DISTINCT
      tool_name,
      mcp_server
    FROM spelling
  ) AS name
  WHERE is_tool_name(tool_name)
)
SELECT
  CAST(spelling.org_id AS VARCHAR) AS org_id,
  CAST(spelling.day AS DATE) AS day,
  CAST(spelling.user_id AS VARCHAR) AS user_id,
  CAST(spelling.session_id AS VARCHAR) AS session_id,
  CAST(spelling.agent AS VARCHAR) AS agent,
  CAST(spelling.client AS VARCHAR) AS client,
  CAST(spelling.repo AS VARCHAR) AS repo,
  CAST(keyed.tool_key AS VARCHAR) AS tool_key,
  CAST(keyed.server_key AS VARCHAR) AS server_key,
  CAST(sum(spelling.tool_calls) AS BIGINT) AS tool_calls
FROM spelling
JOIN keyed
  ON keyed.tool_name = spelling.tool_name
  AND keyed.mcp_server = spelling.mcp_server
GROUP BY
  spelling.org_id,
  spelling.day,
  spelling.user_id,
  spelling.session_id,
  spelling.agent,
  spelling.client,
  spelling.repo,
  keyed.tool_key,
  keyed.server_key
