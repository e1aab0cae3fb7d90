mcp_server_of('mcp__github__search') -> 'github';
mcp_server_of('github___search') -> 'github';
mcp_server_of('mcp__github__search__code') -> 'github';
mcp_server_of('mcp__my_server__search') -> 'my_server';
mcp_server_of('Bash') -> '';
mcp_server_of('mcp__github') -> '';
mcp_server_of('') -> '';
mcp_server_of('git
hub___search') -> '';
mcp_server_of(NULL) -> NULL;
