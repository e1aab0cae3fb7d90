-- The three spellings of one MCP tool.
tool_key('mcp__GitHub__search', NULL) -> 'mcp__github__search';
tool_key('GitHub___search', NULL) -> 'mcp__github__search';
tool_key('search', 'GitHub') -> 'mcp__github__search';
tool_key('mcp__GitHub__search', 'github') -> 'mcp__github__search';
-- The tool's own letter case matters, and that of other tools.
tool_key('mcp__github__Search', NULL) -> 'mcp__github__Search';
tool_key(' bash ', NULL) -> 'bash';
tool_key('Bash', '') -> 'Bash';
tool_key('', NULL) -> '';
tool_key(NULL, NULL) -> NULL;
