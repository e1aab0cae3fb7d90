-- One row is one event of a session of Cline's CLI, or of a task of the extensions Cline and Roo Code, in the columns that rules.sql
-- reads. docs/cline.md describes the mapping.
-- Reads documents.
WITH
document AS MATERIALIZED (
  SELECT *
  FROM documents
),
-- A session that goes on as a new one takes its messages along. So their ids don't have the session in them.
message AS MATERIALIZED (
  SELECT
    line,
    is_subagent,
    from_json(message.content, '[{
      "type": "VARCHAR", "id": "VARCHAR", "name": "VARCHAR", "input": { "path": "VARCHAR", "input": "VARCHAR" },
      "tool_use_id": "VARCHAR", "is_error": "BOOLEAN", "content": "JSON"
    }]') AS blocks,
    message.role AS role,
    message.ts AS occurred_ms,
    message.id || ':' || message.ts AS id,
    message.modelInfo.id AS model,
    message.metrics AS metrics,
    message.metadata.kind AS kind,
    text_of_parts(message.content) AS text,
    nullif(regexp_extract(text, '^\s*<user_input\b[^>]*\bmode="(act|plan|yolo)"', 1), '') AS mode
  FROM (
    SELECT
      line,
      is_subagent,
      unnest(messages) AS message
    FROM document
    WHERE form_fault IS NULL
  )
),
-- A person writes in a mode, which is valid until they write in another one.
session_modes AS (
  SELECT
    line.session_id AS session_id,
    list(occurred_ms ORDER BY occurred_ms) AS since,
    list(mode ORDER BY occurred_ms, mode) AS modes
  FROM message
  WHERE role = 'user'
    AND mode IS NOT NULL
  GROUP BY line.session_id
),
turn AS (
  SELECT
    *,
    slash_command_of(regexp_replace(text, '</?user_input\b[^>]*>', '', 'g')) AS command_name
  FROM message
  WHERE role = 'user'
    -- Messages that the program writes to the model have a kind.
    AND kind IS NULL
    AND NOT coalesce(list_contains(list_transform(blocks, lambda block: block.type), 'tool_result'), false)
    AND NOT is_subagent
    AND text <> ''
),
spoken AS MATERIALIZED (
  SELECT
    line,
    entry.ts AS occurred_ms,
    -- Roo Code has no entry for the task itself: it is the first text.
    CASE WHEN place = 1 AND entry.say = 'text' THEN 'task' ELSE entry.say END AS say,
    coalesce(entry.modelInfo.modelId, valid_at(model_since, models, entry.ts), models[1]) AS model,
    CASE WHEN entry.say <> 'api_req_started' THEN slash_command_of(entry.text) END AS command_name,
    CASE
      WHEN entry.say = 'api_req_started'
        THEN from_json(
          try_cast(entry.text AS JSON),
          '{"tokensIn": "BIGINT", "tokensOut": "BIGINT", "cacheReads": "BIGINT", "cacheWrites": "BIGINT", "cost": "VARCHAR"}'
        )
    END AS tokens,
    is_of_roo OR coalesce(entry.modelInfo.providerId = 'openai', false) AS may_include_cached
  FROM (
    SELECT
      line,
      is_of_roo,
      model_since,
      models,
      unnest(entries) AS entry,
      generate_subscripts(entries, 1) AS place
    FROM document
  )
  WHERE entry.type = 'say'
    AND NOT coalesce(entry.partial, false)
),
-- Newer versions of Roo Code, and some providers of Cline, count cached tokens in tokensIn as well, and the file doesn't say so. As long as
-- a later call of the task has less in than cached tokens, they don't.
entry AS MATERIALIZED (
  SELECT
    *,
    coalesce(tokens.cacheReads, 0) + coalesce(tokens.cacheWrites, 0) AS cached,
    coalesce(tokens.tokensIn, 0) - CASE
      WHEN may_include_cached
        AND coalesce(
          occurred_ms > max(CASE WHEN tokens.tokensIn < cached THEN occurred_ms END) OVER (PARTITION BY line.source, line.line_no),
          true
        )
        THEN cached
      ELSE 0
    END AS input_tokens
  FROM spoken
),
tool AS MATERIALIZED (
  SELECT
    tool_use.*,
    result.result_ms AS result_ms,
    result.results AS results,
    result.success AS success,
    result.is_stopped AS is_stopped
  FROM (
    SELECT
      line,
      occurred_ms,
      block.id AS id,
      block.name AS name,
      block.input AS input
    FROM (
      SELECT
        line,
        occurred_ms,
        unnest(blocks) AS block
      FROM message
      WHERE role = 'assistant'
    )
    WHERE block.type = 'tool_use'
  ) AS tool_use
  LEFT JOIN (
    SELECT
      source,
      id,
      min(occurred_ms) AS result_ms,
      any_value(results) AS results,
      -- One call of a tool can have several results, such as those of several commands.
      bool_and(
        NOT coalesce(is_error, false)
        AND len(list_filter(results, lambda result: result.error IS NOT NULL OR NOT coalesce(result.success, true))) = 0
      ) AS success,
      CASE WHEN bool_or(says_stopped(text) OR len(list_filter(results, lambda result: says_stopped(result.error))) > 0) THEN true END AS is_stopped
    FROM (
      SELECT
        line.source AS source,
        occurred_ms,
        block.tool_use_id AS id,
        block.is_error AS is_error,
        text_of_parts(block.content) AS text,
        from_json(
          CASE json_type(block.content)
            WHEN 'ARRAY' THEN block.content
            ELSE json_array(try_cast(json_extract_string(block.content, '$') AS JSON))
          END,
          '[{"query": "VARCHAR", "result": "VARCHAR", "error": "VARCHAR", "success": "BOOLEAN"}]'
        ) AS results
      FROM (
        SELECT
          line,
          occurred_ms,
          unnest(blocks) AS block
        FROM message
        WHERE role = 'user'
      )
      WHERE block.type = 'tool_result'
    )
    GROUP BY
      source,
      id
  ) AS result
    ON result.source = tool_use.line.source
    AND result.id = tool_use.id
),
file_change AS (
  SELECT
    line,
    id,
    name,
    result_ms AS occurred_ms,
    unnest(CASE name
      WHEN 'editor'
        THEN [{
          'path': input.path,
          'operation': CASE WHEN prefix(results[1].result, 'File created') THEN 'create' ELSE 'edit' END
        }]
      WHEN 'apply_patch' THEN patched_files(input.input)
    END) AS file
  FROM tool
  WHERE success
),
-- Each command of a call, with its own result.
git_command AS (
  SELECT
    line,
    result_ms AS occurred_ms,
    id || ':' || command.place AS id,
    command.result.query AS command,
    coalesce(command.result.success, false) AS success,
    coalesce(command.result.result, command.result.error) AS printed
  FROM (
    SELECT
      *,
      unnest(list_transform(results, lambda result, place: {'place': place, 'result': result})) AS command
    FROM tool
    WHERE is_shell_tool(name)
  )
),
event AS (
  SELECT
    line,
    occurred_ms,
    'model_usage' AS type,
    'usage:' || id AS event_id,
    model_or_unknown(model) AS model,
    greatest(
      coalesce(metrics.inputTokens, 0) - coalesce(metrics.cacheReadTokens, 0) - coalesce(metrics.cacheWriteTokens, 0),
      0
    ) AS input_tokens,
    coalesce(metrics.outputTokens, 0) AS output_tokens,
    coalesce(metrics.cacheReadTokens, 0) AS cache_read_tokens,
    coalesce(metrics.cacheWriteTokens, 0) AS cache_write_tokens,
    file_cost_of(metrics.cost) AS reported_cost_usd
  FROM message
  WHERE role = 'assistant'
    AND coalesce(metrics.inputTokens, 0) + coalesce(metrics.outputTokens, 0) > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'model_usage' AS type,
    id_with('usage:' || line.session_id, CAST(occurred_ms AS VARCHAR)) AS event_id,
    model_or_unknown(model) AS model,
    input_tokens,
    coalesce(tokens.tokensOut, 0) AS output_tokens,
    coalesce(tokens.cacheReads, 0) AS cache_read_tokens,
    coalesce(tokens.cacheWrites, 0) AS cache_write_tokens,
    file_cost_of(tokens.cost) AS reported_cost_usd
  FROM entry
  WHERE coalesce(tokens.tokensIn, 0) + coalesce(tokens.tokensOut, 0) + coalesce(tokens.cacheReads, 0) + coalesce(tokens.cacheWrites, 0) > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'assistant_message' AS type,
    'message:' || id AS event_id
  FROM message
  WHERE role = 'assistant'
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'assistant_message' AS type,
    id_with('message:' || line.session_id, CAST(occurred_ms AS VARCHAR)) AS event_id
  FROM entry
  WHERE tokens.tokensOut > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'user_message' AS type,
    'turn:' || id AS event_id
  FROM turn
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'user_message' AS type,
    id_with('turn:' || line.session_id, CAST(occurred_ms AS VARCHAR)) AS event_id
  FROM entry
  WHERE say IN ('task', 'user_feedback')
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'slash_command' AS type,
    'slash:' || id AS event_id,
    command_name
  FROM turn
  WHERE command_name IS NOT NULL
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'slash_command' AS type,
    id_with('slash:' || line.session_id, CAST(occurred_ms AS VARCHAR)) AS event_id,
    command_name
  FROM entry
  WHERE say IN ('task', 'user_feedback')
    AND command_name IS NOT NULL
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    name AS tool_name,
    success,
    is_stopped
  FROM tool
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'file_change' AS type,
    CASE WHEN name = 'apply_patch' THEN id_with('file:' || id, file.path) ELSE 'file:' || id END AS event_id,
    file.path AS path,
    file.operation AS operation
  FROM file_change
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'git_commit' AS type,
    'commit:' || id || made.ending AS event_id,
    made.name AS commit_sha
  FROM (
    SELECT
      *,
      unnest(commits_of(command, command_output(printed), success, NULL)) AS made
    FROM git_command
  )
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'pull_request' AS type,
    'pull_request:' || id || opened.ending AS event_id,
    opened.name AS url
  FROM (
    SELECT
      *,
      unnest(pull_requests_of(command, command_output(printed), success, NULL)) AS opened
    FROM git_command
  )
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    'pull_request' AS type,
    'pull_request:' || id AS event_id,
    opened.name AS url
  FROM (
    SELECT
      *,
      unnest(pull_requests_of_tool(name, coalesce(results[1].result, results[1].error), success)) AS opened
    FROM tool
    WHERE result_ms IS NOT NULL
  )
  UNION ALL BY NAME
  SELECT
    line,
    form_fault
  FROM document
  WHERE form_fault IS NOT NULL
)
SELECT
  event.line.source AS source,
  event.line.line_no AS line_no,
  coalesce(event.form_fault, CASE WHEN event.line.session_id IS NULL THEN 'missing_member sessionId' END) AS form_fault,
  event.* EXCLUDE (line, form_fault),
  event.line.session_id AS session_id,
  event.line.agent AS agent,
  event.line.agent_version AS agent_version,
  event.line.client AS client,
  autonomy_mode_of(valid_at(session_modes.since, session_modes.modes, event.occurred_ms)) AS autonomy_mode,
  name_of(event.line.repo) AS repo,
  name_of(event.line.git_branch) AS git_branch,
  name_of(event.line.cwd) AS cwd,
  'log' AS channel
FROM event
LEFT JOIN session_modes
  ON session_modes.session_id = event.line.session_id
