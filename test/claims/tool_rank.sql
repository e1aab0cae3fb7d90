tool_rank('tool_call', 'hook', true) -> 3;
tool_rank('tool_call', 'hook', NULL) -> 3.5;
tool_rank('tool_call', 'log', NULL) -> 2;
tool_rank('skill_use', 'hook', NULL) -> 3;
