-- The types of events that are compared between channels together.
CREATE OR REPLACE FUNCTION event_family(type) AS
  CASE
    WHEN type = 'model_usage' THEN 'usage'
    WHEN type IN ('user_message', 'slash_command') THEN 'turns'
    WHEN type = 'assistant_message' THEN 'replies'
    WHEN type IN ('tool_call', 'skill_use') THEN 'tools'
    WHEN type = 'file_change' THEN 'files'
    WHEN type IN ('git_commit', 'pull_request') THEN 'git'
    WHEN type = 'hook_run' THEN 'hooks'
    WHEN type IN ('session_start', 'session_end') THEN 'sessions'
  END;
