-- The name of a tool within its MCP server, from either spelling of a full name; else ''.
CREATE OR REPLACE FUNCTION mcp_tool_of(name) AS
  coalesce(
    nullif(regexp_extract(name, '(?-s)^mcp__(.+?)__(.+)$', 2), ''),
    regexp_extract(name, '(?-s)^(.+?)___(.+)$', 2)
  );
