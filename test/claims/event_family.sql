event_family('model_usage') -> 'usage';
event_family('user_message') -> event_family('slash_command');
event_family('tool_call') -> event_family('skill_use');
event_family('git_commit') -> event_family('pull_request');
event_family('session_start') -> event_family('session_end');
event_family('assistant_message') -> 'replies';
event_family('file_change') -> 'files';
event_family('hook_run') -> 'hooks';
