-- The types of events that are compared between channels together.
CREATE OR REPLACE FUNCTION event_family(type) AS
  CASE
    WHEN type = 'model_usage' THEN 'usage'
    WHEN type IN ('user_message', 'slash_command') THEN 'turns'
    WHEN type = 'assistant_message' THEN 'replies'
    WHEN type IN ('tool_call', 'skill_use') THEN 'tools'
    WHEN type = 'file_change' THEN 'files'
    WHEN type = 'git_commit' THEN 'commits'
    WHEN type = 'pull_request' THEN 'pull_requests'
    WHEN type = 'hook_run' THEN 'hooks'
    WHEN type IN ('session_start', 'session_end') THEN 'sessions'
  END;
