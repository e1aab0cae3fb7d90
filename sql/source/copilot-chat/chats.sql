-- One row is one request of a chat of Copilot in VS Code, with its session, or a document that is no chat, or lines that couldn't be read.
-- Reads lines, each the chat that a file says in the end; batch_files; and side_files, the file that names the folder of a window.
WITH
document AS (
  SELECT
    lines.source AS source,
    lines.line_no AS line_no,
    batch_files.name AS name,
    from_json(lines.line, '{
      "sessionId": "VARCHAR",
      "unread": "BIGINT",
      "requests": [{
        "requestId": "VARCHAR", "timestamp": "BIGINT", "modelId": "VARCHAR", "promptTokens": "BIGINT", "completionTokens": "BIGINT",
        "isSystemInitiated": "BOOLEAN",
        "agent": {"extensionVersion": "VARCHAR"},
        "slashCommand": {"name": "VARCHAR"},
        "result": {"metadata": {
          "promptTokens": "BIGINT", "outputTokens": "BIGINT", "resolvedModel": "VARCHAR",
          "toolCallRounds": [{"toolCalls": [{
            "id": "VARCHAR", "name": "VARCHAR", "arguments": {"filePath": "VARCHAR", "command": "VARCHAR"}
          }]}]
        }},
        "response": [{
          "kind": "VARCHAR", "toolId": "VARCHAR", "toolCallId": "VARCHAR", "isComplete": "BOOLEAN", "isConfirmed": "JSON",
          "resultDetails": "JSON",
          "toolSpecificData": {
            "commandLine": {"original": "VARCHAR", "toolEdited": "VARCHAR", "userEdited": "VARCHAR"},
            "terminalCommandState": {"exitCode": "BIGINT", "duration": "DOUBLE"}
          },
          "uri": {"path": "VARCHAR", "scheme": "VARCHAR"}
        }]
      }]
    }') AS chat
  FROM lines
  JOIN batch_files
    ON batch_files.source = lines.source
),
window_folder AS (
  SELECT
    source,
    any_value(document ->> '$.folder') AS uri
  FROM side_files
  WHERE ending = 'workspace'
  GROUP BY source
)
SELECT
  {
    'source': document.source,
    'line_no': document.line_no,
    -- Only newer versions name the session in the chat.
    'session_id': coalesce(chat.sessionId, nullif(regexp_extract(name, '([^/\\]+)\.jsonl?(\.gz|\.zst)?$', 1), '')),
    -- The folder of a window on another machine isn't on this one. A drive has a slash before it.
    'cwd': regexp_replace(url_decode(nullif(regexp_extract(window_folder.uri, '^file://(/.*)$', 1), '')), '^/([A-Za-z]:)', '\1')
  } AS line,
  chat.unread > 0 AS is_damaged,
  unnest(CASE WHEN len(chat.requests) > 0 THEN chat.requests ELSE [NULL] END) AS request
FROM document
LEFT JOIN window_folder
  ON window_folder.source = document.source
