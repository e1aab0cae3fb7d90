goes_by_request('model_usage', 'claude-code', 'r1') -> 1 = 1;
goes_by_request('model_usage', 'copilot-cli', 'r1') -> 1 = 1;
goes_by_request('model_usage', 'qwen-code', 'r1') -> 1 = 1;
goes_by_request('model_usage', 'claude-code', NULL) -> 1 = 0;
goes_by_request('model_usage', 'codex', 'r1') -> 1 = 0;
goes_by_request('model_usage', NULL, 'r1') -> 1 = 0;
goes_by_request('tool_call', 'claude-code', 'r1') -> 1 = 0;
