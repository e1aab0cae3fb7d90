-- The tool key: mcp__<server key>__<tool> for an MCP call, else the tool's name.
CREATE OR REPLACE FUNCTION tool_key(name, server) AS
  CASE
    WHEN server_key(name, server) IS NULL THEN stripped(name)
    ELSE 'mcp__' || server_key(name, server) || '__' || coalesce(nullif(mcp_tool_of(stripped(name)), ''), stripped(name))
  END;
