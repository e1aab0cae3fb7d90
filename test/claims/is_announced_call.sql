is_announced_call('tool_call', 'hook', NULL) -> 1 = 1;
is_announced_call('tool_call', 'hook', false) -> 1 = 0;
is_announced_call('tool_call', 'log', NULL) -> 1 = 0;
is_announced_call('skill_use', 'hook', NULL) -> 1 = 0;
