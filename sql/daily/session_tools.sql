-- One row is one tool that was called in one part of a session on one day.
-- Grain: (org_id, day, user_id, session_id, agent, client, repo, tool_key, server_key).
-- Looks back: 0 days.
WITH
-- Keys are computed once per spelling of a name, not once per call.
keyed AS (
  SELECT
    tool_name,
    mcp_server,
    tool_key(tool_name, mcp_server) AS tool_key,
    coalesce(server_key(tool_name, mcp_server), '') AS server_key
  FROM (
    SELECT DISTINCT
      tool_name,
      -- An empty name and none are the same to server_key.
      coalesce(mcp_server, '') AS mcp_server
    FROM counted_events
    WHERE type = 'tool_call'
      AND (org_id, day) IN (SELECT org_id, day FROM due)
  ) AS name
  WHERE is_tool_name(tool_name)
),
keyed_repo AS (
  SELECT
    repo,
    repo_key(repo) AS repo_key
  FROM (
    SELECT DISTINCT coalesce(repo, '') AS repo
    FROM counted_events
    WHERE type = 'tool_call'
      AND (org_id, day) IN (SELECT org_id, day FROM due)
  ) AS name
)
SELECT
  CAST(tool_call.org_id AS VARCHAR) AS org_id,
  CAST(tool_call.day AS DATE) AS day,
  CAST(tool_call.user_id AS VARCHAR) AS user_id,
  CAST(tool_call.session_id AS VARCHAR) AS session_id,
  CAST(coalesce(tool_call.agent, '') AS VARCHAR) AS agent,
  CAST(coalesce(tool_call.client, '') AS VARCHAR) AS client,
  CAST(keyed_repo.repo_key AS VARCHAR) AS repo,
  CAST(keyed.tool_key AS VARCHAR) AS tool_key,
  CAST(keyed.server_key AS VARCHAR) AS server_key,
  CAST(count(*) AS BIGINT) AS tool_calls,
  CAST(count(*) FILTER (WHERE is_outcome(tool_call.success, tool_call.is_stopped) AND NOT tool_call.success) AS BIGINT) AS failed_calls,
  CAST(count(*) FILTER (WHERE is_outcome(tool_call.success, tool_call.is_stopped)) AS BIGINT) AS calls_with_outcome
FROM counted_events AS tool_call
JOIN keyed
  ON keyed.tool_name = tool_call.tool_name
  AND keyed.mcp_server = coalesce(tool_call.mcp_server, '')
JOIN keyed_repo
  ON keyed_repo.repo = coalesce(tool_call.repo, '')
WHERE tool_call.type = 'tool_call'
  AND (tool_call.org_id, tool_call.day) IN (SELECT org_id, day FROM due)
GROUP BY
  tool_call.org_id,
  tool_call.day,
  tool_call.user_id,
  tool_call.session_id,
  coalesce(tool_call.agent, ''),
  coalesce(tool_call.client, ''),
  keyed_repo.repo_key,
  keyed.tool_key,
  keyed.server_key
