-- One row is one message of a session of opencode or Kilo, or a document that has none.
-- Reads documents.
SELECT
  {
    'source': source,
    'line_no': line_no,
    'session_id': document.info.id,
    'agent': agent,
    'directory': document.info.directory,
    'agent_version': document.info.version,
    'started_ms': document.info.time.created
  } AS line,
  document.messages IS NULL AS is_foreign,
  document.info.parentID IS NOT NULL AS is_subagent,
  unnest(coalesce(document.messages, [NULL])) AS message
FROM (
  SELECT
    source,
    line_no,
    agent,
    from_json(line, '{
      "info": {"id": "VARCHAR", "parentID": "VARCHAR", "directory": "VARCHAR", "version": "VARCHAR", "time": {"created": "BIGINT"}},
      "messages": [{
        "info": {
          "role": "VARCHAR", "agent": "VARCHAR", "mode": "VARCHAR", "modelID": "VARCHAR",
          "path": {"cwd": "VARCHAR"},
          "time": {"created": "BIGINT"},
          "cost": "VARCHAR",
          "tokens": {
            "input": "BIGINT", "output": "BIGINT", "reasoning": "BIGINT",
            "cache": {"read": "BIGINT", "write": "BIGINT"}
          }
        },
        "parts": [{
          "type": "VARCHAR", "synthetic": "BOOLEAN", "ignored": "BOOLEAN", "tool": "VARCHAR", "callID": "VARCHAR",
          "tokens": {
            "input": "BIGINT", "output": "BIGINT", "reasoning": "BIGINT",
            "cache": {"read": "BIGINT", "write": "BIGINT"}
          },
          "state": {
            "status": "VARCHAR",
            "time": {"start": "BIGINT", "end": "BIGINT"},
            "input": {"filePath": "VARCHAR", "command": "VARCHAR", "name": "VARCHAR"},
            "output": "VARCHAR",
            "error": "VARCHAR",
            "metadata": {
              "exit": "BIGINT", "exists": "BOOLEAN",
              "filediff": {"additions": "BIGINT", "deletions": "BIGINT"},
              "files": [{
                "filePath": "VARCHAR", "movePath": "VARCHAR", "type": "VARCHAR",
                "additions": "BIGINT", "deletions": "BIGINT"
              }]
            }
          }
        }]
      }]
    }') AS document
  FROM documents
)
