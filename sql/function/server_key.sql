-- The server key: servers whose names differ only by letter case are one. NULL if the call is no MCP call.
CREATE OR REPLACE FUNCTION server_key(name, server) AS
  lower_case(nullif(coalesce(nullif(stripped(server), ''), stripped(mcp_server_of(stripped(name)))), ''));
