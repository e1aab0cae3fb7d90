-- One row is one line of a Codex rollout that can become an event, or that says something about others.
-- Reads lines (source, line_no and the members that members.json lists).
SELECT
  source,
  line_no,
  "timestamp",
  type,
  -- The kind of an event: the type of its item, if it is about one.
  CASE WHEN payload.type = 'item_completed' THEN payload.item.type ELSE payload.type END AS kind,
  payload
FROM lines
WHERE type IN ('session_meta', 'turn_context', 'token_usage_record')
  OR (
    type = 'response_item'
    AND (
      (payload.type = 'message' AND payload.role = 'assistant')
      OR payload.type IN (
        'function_call', 'custom_tool_call', 'local_shell_call', 'web_search_call', 'tool_search_call', 'image_generation_call',
        'function_call_output', 'custom_tool_call_output'
      )
    )
  )
  OR (
    type = 'event_msg'
    AND (
      payload.type IN (
        'task_started', 'user_message', 'token_count', 'thread_settings_applied',
        'exec_command_end', 'patch_apply_end', 'mcp_tool_call_end', 'web_search_end', 'image_generation_end'
      )
      OR payload.item.type IN ('UserMessage', 'CommandExecution', 'FileChange', 'McpToolCall', 'CollabAgentToolCall')
      OR (payload.item.type = 'SubAgentActivity' AND payload.item.kind = 'started')
    )
  )
