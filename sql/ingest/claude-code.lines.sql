-- One row is one line of a Claude Code transcript that can become an event, or that is none at all.
-- Reads lines (source, line_no and the members that claude-code.json lists).
-- Nearly plain columns, on purpose: a reader hands out the lines of small files in small portions, on which every
-- expression costs as much as on large ones. claude-code.sql does the rest.
SELECT
  * EXCLUDE (message, cwd, gitBranch, version),
  message.id AS message_id,
  message.model AS model,
  message.usage AS usage,
  from_json(message.content, '[{
    "type": "VARCHAR", "id": "VARCHAR", "name": "VARCHAR", "tool_use_id": "VARCHAR", "is_error": "BOOLEAN",
    "input": {
      "file_path": "VARCHAR", "notebook_path": "VARCHAR", "path": "VARCHAR",
      "command": "VARCHAR", "skill": "VARCHAR", "patch": "VARCHAR", "input": "VARCHAR"
    }
  }]') AS blocks,
  -- The beginning of what a line without a tool's result says, as JSON text: of a person's message, or of the program's.
  CASE WHEN type = 'user' AND toolUseResult IS NULL THEN left(message.content, 1000) END AS prompt,
  cwd,
  gitBranch AS git_branch,
  version AS agent_version
FROM lines
WHERE type IN ('user', 'assistant')
  OR subtype = 'stop_hook_summary'
  OR attachment.type IN ('hook_success', 'hook_non_blocking_error', 'queued_command')
  OR data.type = 'hook_progress'
  OR type IS NULL
