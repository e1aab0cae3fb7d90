-- One row is one file: the messages of a session of Cline's CLI, or the entries of a task of the extensions Cline and Roo Code, with
-- what the files beside it say.
-- Reads lines (source, line_no, line), batch_files and side_files.
WITH
session_file AS (
  SELECT
    source,
    from_json(document, '{
      "source": "VARCHAR", "interactive": "BOOLEAN", "cwd": "VARCHAR",
      "metadata": { "git": { "url": "VARCHAR", "branch": "VARCHAR" } }
    }') AS told
  FROM side_files
  WHERE ending = 'session'
),
-- The models of a task, each from an instant on: a list that Cline keeps, and what Roo Code tells the model.
named_model AS (
  SELECT
    source,
    coalesce(used.ts, 0) AS since_ms,
    used.model_id AS model
  FROM (
    SELECT
      source,
      unnest(from_json(json_extract(document, '$.model_usage'), '[{"ts": "BIGINT", "model_id": "VARCHAR"}]')) AS used
    FROM side_files
    WHERE ending = 'metadata'
  )
  UNION ALL
  SELECT
    source,
    coalesce(sent.ts, 0) AS since_ms,
    nullif(regexp_extract(text_of_parts(sent.content), '<model>([^<]+)</model>', 1), '') AS model
  FROM (
    SELECT
      source,
      unnest(from_json(document, '[{"ts": "BIGINT", "content": "JSON"}]')) AS sent
    FROM side_files
    WHERE ending = 'history'
  )
),
task_models AS (
  SELECT
    source,
    list(since_ms ORDER BY since_ms, model) AS since,
    list(model ORDER BY since_ms, model) AS models
  FROM named_model
  WHERE model IS NOT NULL
  GROUP BY source
),
document AS (
  SELECT
    source,
    line_no,
    name,
    json_type(line) AS json_type,
    CASE
      WHEN json_type(line) = 'OBJECT'
        THEN from_json(line, '{
          "sessionId": "VARCHAR", "origin": { "version": "VARCHAR" },
          "messages": [{
            "id": "VARCHAR", "role": "VARCHAR", "ts": "BIGINT", "content": "JSON",
            "metadata": { "kind": "VARCHAR" }, "modelInfo": { "id": "VARCHAR" },
            "metrics": {
              "inputTokens": "BIGINT", "outputTokens": "BIGINT", "cacheReadTokens": "BIGINT", "cacheWriteTokens": "BIGINT",
              "cost": "VARCHAR"
            }
          }]
        }')
    END AS chat,
    CASE
      WHEN json_type(line) = 'ARRAY'
        THEN from_json(line, '[{
          "ts": "BIGINT", "type": "VARCHAR", "say": "VARCHAR", "text": "VARCHAR", "partial": "BOOLEAN",
          "modelInfo": { "modelId": "VARCHAR", "providerId": "VARCHAR" }
        }]')
    END AS entries
  FROM lines
  JOIN batch_files USING (source)
),
-- Only Roo Code, and Kilo Code that was made from it, say in which protocol they call the model.
protocol AS (
  SELECT DISTINCT source
  FROM (
    SELECT
      source,
      unnest(entries) AS entry
    FROM document
  )
  WHERE entry.say = 'api_req_started'
    AND contains(entry.text, '"apiProtocol"')
)
SELECT
  {
    'source': document.source,
    'line_no': document.line_no,
    -- The id of a sub-agent's session begins with that of the session that started it. A task is named after its folder.
    'session_id': CASE
      WHEN json_type = 'ARRAY' THEN nullif(regexp_extract(name, '([^/\\]+)[/\\]ui_messages\.json(\.gz|\.zst)?$', 1), '')
      ELSE split_part(chat.sessionId, '__', 1)
    END,
    'agent': CASE
      WHEN contains(name, 'kilo-code') THEN 'kilo'
      WHEN contains(name, 'roo-cline') OR protocol.source IS NOT NULL THEN 'roo-code'
      ELSE 'cline'
    END,
    'agent_version': chat.origin.version,
    'cwd': told.cwd,
    'repo': told.metadata.git.url,
    'git_branch': told.metadata.git.branch,
    'client': CASE
      WHEN told.source = 'cli' THEN CASE WHEN told.interactive THEN 'terminal-ui' ELSE 'non-interactive-cli' END
      ELSE client_of(told.source)
    END
  } AS line,
  CASE
    WHEN json_type = 'ARRAY' THEN NULL
    WHEN chat.messages IS NULL THEN 'missing_member messages'
    WHEN chat.sessionId IS NULL THEN 'missing_member sessionId'
  END AS form_fault,
  contains(chat.sessionId, '__') AS is_subagent,
  chat.messages AS messages,
  entries,
  protocol.source IS NOT NULL OR regexp_matches(name, 'roo-cline|kilo-code') AS is_of_roo,
  since AS model_since,
  models
FROM document
LEFT JOIN session_file USING (source)
LEFT JOIN task_models USING (source)
LEFT JOIN protocol USING (source)
