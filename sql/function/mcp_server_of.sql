-- The MCP server in a tool's full name; else ''.
CREATE OR REPLACE FUNCTION mcp_server_of(name) AS
  coalesce(
    nullif(regexp_extract(name, '(?-s)^mcp__(.+?)__(.+)$', 1), ''),
    regexp_extract(name, '(?-s)^(.+?)___(.+)$', 1)
  );
