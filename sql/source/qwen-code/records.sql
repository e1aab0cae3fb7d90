-- One row is one line of a Qwen Code chat that can become an event, or that says more of one, or that a session has gone on.
-- Reads lines (source, line_no and the members that members.json lists) and side_files.
SELECT
  {
    'source': lines.source,
    'line_no': lines.line_no,
    'session_id': sessionId,
    'cwd': cwd,
    'git_branch': gitBranch,
    'agent_version': version
  } AS line,
  sessionId AS session_id,
  uuid,
  rfc3339_ms("timestamp") AS occurred_ms,
  type,
  subtype,
  coalesce(provenance, 'real_user') = 'real_user' AS is_human,
  coalesce(isSidechain, false) AS is_sidechain,
  -- The answers of a sub-agent don't name their model: the file beside them does.
  coalesce(model, json_extract_string(document, '$.model'), json_extract_string(document, '$.persistedCliFlags.model')) AS model,
  message.parts AS content,
  CASE
    WHEN type IN ('assistant', 'tool_result')
      THEN from_json(message.parts, '[{
        "text": "VARCHAR",
        "functionCall": {
          "id": "VARCHAR", "name": "VARCHAR", "args": { "file_path": "VARCHAR", "command": "VARCHAR", "skill": "VARCHAR" }
        },
        "functionResponse": { "id": "VARCHAR", "name": "VARCHAR", "response": { "output": "VARCHAR", "error": "VARCHAR" } }
      }]')
  END AS parts,
  CASE WHEN type = 'assistant' THEN {
    'input': usageMetadata.promptTokenCount,
    'output': usageMetadata.candidatesTokenCount,
    'thoughts': usageMetadata.thoughtsTokenCount,
    'cached': usageMetadata.cachedContentTokenCount,
    'total': usageMetadata.totalTokenCount
  } END AS tokens,
  CASE WHEN type = 'tool_result' THEN toolCallResult END AS result,
  from_json(
    toolCallResult.resultDisplay,
    '{"diffStat": {"model_added_lines": "BIGINT", "model_removed_lines": "BIGINT"}}'
  ).diffStat AS lines_changed,
  -- The mode of a session stands in lines of its own, that of a sub-agent beside its file.
  autonomy_mode_of(CASE
    WHEN coalesce(isSidechain, false)
      THEN coalesce(json_extract_string(document, '$.resolvedApprovalMode'), json_extract_string(document, '$.persistedCliFlags.approvalMode'))
    WHEN subtype = 'session_approval_mode' THEN json_extract_string(systemPayload, '$.mode')
  END) AS autonomy_mode,
  CASE
    WHEN subtype = 'slash_command' AND json_extract_string(systemPayload, '$.phase') = 'invocation'
      THEN slash_command_of(json_extract_string(systemPayload, '$.rawCommand'))
  END AS command_name,
  CASE
    WHEN subtype = 'ui_telemetry'
      THEN from_json(systemPayload, '{"uiEvent": {
        "event.name": "VARCHAR", "response_id": "VARCHAR", "model": "VARCHAR", "subagent_name": "VARCHAR",
        "input_token_count": "BIGINT", "output_token_count": "BIGINT", "thoughts_token_count": "BIGINT",
        "cached_content_token_count": "BIGINT", "total_token_count": "BIGINT",
        "call_id": "VARCHAR", "duration_ms": "BIGINT"
      }}').uiEvent
  END AS told
FROM lines
LEFT JOIN side_files USING (source)
WHERE type IN ('user', 'assistant', 'tool_result')
  OR subtype IN ('ui_telemetry', 'slash_command', 'session_approval_mode', 'chat_compression', 'custom_title', 'turn_result')
