is_tool_name('Bash') -> 1 = 1;
is_tool_name('mcp__git-hub__search.code:v2/x') -> 1 = 1;
is_tool_name('  Bash
') -> 1 = 1;
is_tool_name('B') -> 1 = 1;
-- A letter comes first, nothing odd after it.
is_tool_name('') -> 1 = 0;
is_tool_name(' ') -> 1 = 0;
is_tool_name('1Bash') -> 1 = 0;
is_tool_name('_Bash') -> 1 = 0;
is_tool_name('<Bash>') -> 1 = 0;
is_tool_name('Ba sh') -> 1 = 0;
is_tool_name('Bash
Read') -> 1 = 0;
is_tool_name('Écrire') -> 1 = 0;
-- 128 characters at most.
is_tool_name('BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB') -> 1 = 1;
is_tool_name('BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB') -> 1 = 0;

is_tool_name(NULL) -> NULL;
