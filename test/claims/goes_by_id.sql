goes_by_id('tool_call') -> 1 = 1;
goes_by_id('pull_request') -> 1 = 1;
goes_by_id('user_message') -> 1 = 1;
goes_by_id('slash_command') -> 1 = 0;
goes_by_id('assistant_message') -> 1 = 0;
goes_by_id('model_usage') -> 1 = 0;
