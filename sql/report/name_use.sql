-- One row is one MCP server or skill that one user used on a day from $earliest to $to.
-- Grain: (kind, name, user_id, day).
SELECT DISTINCT
  'mcp_server' AS kind,
  server_key AS name,
  user_id,
  day
FROM user_tools
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND server_key <> ''
  AND tool_calls > 0
UNION ALL
SELECT DISTINCT
  'skill' AS kind,
  skill_name AS name,
  user_id,
  day
FROM user_skills
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
