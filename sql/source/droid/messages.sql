-- One row is one message of a Droid session.
-- Reads lines.
SELECT
  {'source': source, 'line_no': line_no} AS line,
  coalesce(session_id, sessionId) IS NOT NULL AS is_stream,
  rfc3339_ms("timestamp") AS occurred_ms,
  id,
  message.role AS role,
  message.modelId AS model,
  message.interactionMode AS interaction_mode,
  message.visibility IS DISTINCT FROM 'llm_only' AND NOT prefix(id, 'context-') AND coalesce(hookEventName, message.hookEventName) IS NULL AS is_shown,
  from_json(
    CASE json_type(message.content)
      WHEN 'ARRAY' THEN message.content
      WHEN 'VARCHAR' THEN json_array(json_object('type', 'text', 'text', message.content))
    END,
    '[{
      "type": "VARCHAR", "text": "VARCHAR", "id": "VARCHAR", "name": "VARCHAR", "tool_use_id": "VARCHAR", "is_error": "BOOLEAN",
      "content": "VARCHAR",
      "input": {
        "file_path": "VARCHAR", "notebook_path": "VARCHAR", "path": "VARCHAR",
        "command": "VARCHAR", "patch": "VARCHAR", "input": "VARCHAR"
      }
    }]'
  ) AS blocks
FROM lines
WHERE type = 'message'
