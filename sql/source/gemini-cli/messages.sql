-- One row is one message of a Gemini CLI chat as one line has it, or what is wrong with a line. A chat is one document, or lines: a
-- header, messages, and `$set` with changes to the header or a list of messages.
-- Reads lines (source, line_no, line).
WITH
chat_line AS MATERIALIZED (
  SELECT
    source,
    line_no,
    line,
    from_json(line, '{
      "sessionId": "VARCHAR", "projectHash": "VARCHAR", "kind": "VARCHAR",
      "id": "VARCHAR", "messages": ["JSON"], "$set": { "messages": ["JSON"] }
    }') AS chat
  FROM lines
),
-- The header, which each resume repeats.
chat AS (
  SELECT
    source,
    min(chat.sessionId) AS session_id,
    bool_or(chat.kind = 'subagent') AS is_subagent
  FROM chat_line
  WHERE chat.projectHash IS NOT NULL
  GROUP BY source
),
message AS (
  SELECT
    source,
    line_no,
    chat."$set" IS NOT NULL AS is_history,
    from_json(unnest(coalesce(chat.messages, chat."$set".messages, CASE WHEN chat.id IS NOT NULL THEN [line] END)), '{
      "id": "VARCHAR", "timestamp": "VARCHAR", "type": "VARCHAR", "content": "JSON", "displayContent": "JSON", "model": "VARCHAR",
      "tokens": {
        "input": "BIGINT", "output": "BIGINT", "cached": "BIGINT", "thoughts": "BIGINT", "tool": "BIGINT"
      },
      "toolCalls": [{
        "id": "VARCHAR", "name": "VARCHAR", "displayName": "VARCHAR", "timestamp": "VARCHAR", "status": "VARCHAR",
        "args": { "file_path": "VARCHAR", "command": "VARCHAR" },
        "result": [{ "functionResponse": { "response": { "output": "VARCHAR" } } }],
        "resultDisplay": {
          "filePath": "VARCHAR", "isNewFile": "BOOLEAN",
          "diffStat": { "model_added_lines": "BIGINT", "model_removed_lines": "BIGINT" }
        }
      }]
    }') AS message
  FROM chat_line
)
SELECT
  message.source AS source,
  message.line_no AS line_no,
  CASE WHEN chat.session_id IS NULL THEN 'missing_member sessionId' END AS form_fault,
  chat.session_id AS session_id,
  coalesce(chat.is_subagent, false) AS is_subagent,
  message.is_history AS is_history,
  message.message AS message
FROM message
LEFT JOIN chat USING (source)
WHERE message.message.type IN ('user', 'gemini', 'model')
UNION ALL BY NAME
SELECT
  source,
  line_no,
  CASE
    WHEN json_type(line) <> 'OBJECT' THEN 'not_an_object'
    WHEN chat.sessionId IS NULL THEN 'missing_member sessionId'
    ELSE 'missing_member projectHash'
  END AS form_fault
FROM chat_line
WHERE (chat.sessionId IS NULL OR chat.projectHash IS NULL)
  AND chat.id IS NULL
  AND NOT prefix(CAST(line AS VARCHAR), '{"$')
