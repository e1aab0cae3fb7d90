is_session_usage('model_usage', 'droid') -> 1 = 1;
is_session_usage('model_usage', 'copilot-chat') -> 1 = 1;
is_session_usage('model_usage', 'copilot-cli') -> 1 = 1;
is_session_usage('model_usage', 'cursor') -> 1 = 1;
is_session_usage('model_usage', 'claude-code') -> 1 = 0;
is_session_usage('model_usage', NULL) -> 1 = 0;
is_session_usage('user_message', 'droid') -> 1 = 0;
