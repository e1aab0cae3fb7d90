-- The server that the event names goes before the one in the tool's name.
server_key('search', 'GitHub') -> 'github';
server_key('mcp__linear__search', ' GitHub ') -> 'github';
server_key('mcp__GitHub__search', NULL) -> 'github';
server_key('GitHub___search', NULL) -> 'github';
server_key(' mcp__GitHub__search ', '') -> 'github';
server_key('mcp__GitHub__search', '  ') -> 'github';
server_key('search', 'ΟΔΟΣ') -> 'οδοσ';
-- Else it is no MCP call.
server_key('Bash', NULL) -> NULL;
server_key('Bash', '') -> NULL;
server_key('', '') -> NULL;
server_key(NULL, NULL) -> NULL;
server_key(NULL, 'github') -> 'github';
