mcp_tool_of('mcp__github__search') -> 'search';
mcp_tool_of('github___search') -> 'search';
-- The server's name is the shortest that fits: the rest belongs to the tool.
mcp_tool_of('mcp__github__search__code') -> 'search__code';
mcp_tool_of('mcp__my_server__search') -> 'search';
-- No server, or no tool: no MCP tool.
mcp_tool_of('Bash') -> '';
mcp_tool_of('mcp__github') -> '';
mcp_tool_of('mcp__github__') -> '';
mcp_tool_of('') -> '';
-- A name has one line.
mcp_tool_of('git
hub___search') -> '';
mcp_tool_of(NULL) -> NULL;
