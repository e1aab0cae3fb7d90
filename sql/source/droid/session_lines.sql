-- One row is one line of a Droid session: a message, or the start of the session.
-- Reads lines.
SELECT
  {'source': source, 'line_no': line_no} AS line,
  type,
  rfc3339_ms("timestamp") AS occurred_ms,
  id,
  coalesce(session_id, sessionId) IS NOT NULL AS is_stream,
  cwd,
  -- Newer files have the version of their form here, a single number.
  CASE WHEN contains(version, '.') THEN version END AS agent_version,
  callingSessionId IS NOT NULL AS is_called,
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
WHERE type IN ('session_start', 'message')
