-- Whether an event gives way to one of the same type and id that a better channel reports for the day before or after. Events of tools have
-- the same id in all channels, and so have the prompts of Claude Code in transcripts and telemetry.
CREATE OR REPLACE FUNCTION goes_by_id(type) AS
  type IN ('user_message', 'tool_call', 'skill_use', 'file_change', 'git_commit', 'pull_request');
