-- One row is one event of a session of Pi, OMP or OpenClaw, in the columns that rules.sql reads. docs/pi.md and docs/openclaw.md describe the mapping.
-- Reads entries.
-- A fork copies lines with their ids and times, and ids of lines are those of one file only: an event's id has the id of the answer or of the
-- call, or else that of the line with its time.
WITH
entry AS MATERIALIZED (
  SELECT *
  FROM entries
),
-- The messages of the session, and those of the sub-agents that stand only in the result of the call that ran them.
message AS MATERIALIZED (
  SELECT
    line,
    id || ':' || occurred_ms AS id,
    occurred_ms,
    run_id,
    role,
    content,
    model,
    response_id,
    tokens,
    tool_call_id,
    tool_name,
    is_error,
    duration_ms,
    details,
    nested_calls,
    false AS is_nested
  FROM entry
  WHERE type = 'message'
  UNION ALL
  SELECT
    line,
    NULL AS id,
    coalesce(told."timestamp", occurred_ms) AS occurred_ms,
    NULL AS run_id,
    told.role AS role,
    told.content AS content,
    told.model AS model,
    told.responseId AS response_id,
    told.usage AS tokens,
    told.toolCallId AS tool_call_id,
    told.toolName AS tool_name,
    told.isError AS is_error,
    told.durationMs AS duration_ms,
    told.details AS details,
    NULL AS nested_calls,
    true AS is_nested
  FROM (
    SELECT
      line,
      occurred_ms,
      unnest(flatten(list_transform(
        from_json(details, '{"results": [{"messages": [{
          "role": "VARCHAR", "timestamp": "BIGINT", "content": "JSON", "model": "VARCHAR", "responseId": "VARCHAR",
          "usage": {"input": "BIGINT", "output": "BIGINT", "cacheRead": "BIGINT", "cacheWrite": "BIGINT", "cacheWrite1h": "BIGINT"},
          "toolCallId": "VARCHAR", "toolName": "VARCHAR", "isError": "BOOLEAN", "durationMs": "BIGINT", "details": "JSON"
        }]}]}').results,
        lambda result: result.messages
      ))) AS told
    FROM entry
    WHERE role = 'toolResult'
  )
),
call AS MATERIALIZED (
  SELECT
    line,
    occurred_ms,
    part.id AS id,
    part.name AS name,
    part.arguments AS args
  FROM (
    SELECT
      line,
      occurred_ms,
      unnest(from_json(content, '[{
        "type": "VARCHAR", "id": "VARCHAR", "name": "VARCHAR",
        "arguments": {"path": "VARCHAR", "command": "VARCHAR", "content": "VARCHAR"}
      }]')) AS part
    FROM message
    WHERE role = 'assistant'
      AND json_type(content) = 'ARRAY'
  )
  WHERE part.type = 'toolCall'
    AND part.id IS NOT NULL
),
-- OpenClaw doesn't store an answer that only called a tool that doesn't exist. The sum of its run has it.
lost_answer AS MATERIALIZED (
  SELECT
    run.line,
    run.occurred_ms,
    run.run_id AS run_id,
    run.model,
    {
      'input': greatest(0, run.tokens.input - told.input),
      'output': greatest(0, run.tokens.output - told.output),
      'cacheRead': greatest(0, run.tokens.cacheRead - told.cache_read),
      'cacheWrite': greatest(0, run.tokens.cacheWrite - told.cache_write),
      'cacheWrite1h': NULL
    } AS tokens
  FROM (
    SELECT *
    FROM entry
    WHERE type = 'run'
    QUALIFY row_number() OVER (PARTITION BY line.file, run_id ORDER BY occurred_ms DESC, line.line_no DESC) = 1
  ) AS run
  JOIN (
    SELECT
      message.line.file AS file,
      message.run_id AS run_id,
      coalesce(sum(message.tokens.input), 0) AS input,
      coalesce(sum(message.tokens.output), 0) AS output,
      coalesce(sum(message.tokens.cacheRead), 0) AS cache_read,
      coalesce(sum(message.tokens.cacheWrite), 0) AS cache_write
    FROM message
    LEFT JOIN call
      ON call.id = message.tool_call_id
      AND call.line.file = message.line.file
    WHERE message.run_id IS NOT NULL
    GROUP BY ALL
    HAVING bool_or(message.tool_call_id IS NOT NULL AND call.id IS NULL)
  ) AS told
    ON told.file = run.line.file
    AND told.run_id = run.run_id
),
usage AS (
  SELECT
    line,
    occurred_ms,
    'usage:' || coalesce(response_id, id) AS event_id,
    model,
    tokens,
    response_id AS request_id
  FROM message
  WHERE role = 'assistant'
    AND coalesce(response_id, id) IS NOT NULL
  UNION ALL
  -- What the program asks for itself, as to shorten the history.
  SELECT
    line,
    occurred_ms,
    'usage:' || id || ':' || occurred_ms AS event_id,
    model,
    tokens,
    NULL AS request_id
  FROM entry
  WHERE type IN ('compaction', 'branch_summary', 'usage')
  UNION ALL
  SELECT
    line,
    occurred_ms,
    'usage:run:' || run_id AS event_id,
    model,
    tokens,
    NULL AS request_id
  FROM lost_answer
),
tool AS MATERIALIZED (
  SELECT
    coalesce(call.line, answered.line) AS line,
    coalesce(call.occurred_ms, answered.result_ms) AS occurred_ms,
    coalesce(call.id, answered.id) AS id,
    coalesce(call.name, answered.name) AS name,
    call.args AS args,
    answered.result_ms AS result_ms,
    answered.output AS output,
    answered.details AS details,
    answered.duration_ms AS duration_ms,
    tool_success(answered.success, answered.details.exitCode) AS success
  FROM call
  -- The call of a tool that doesn't exist may not be stored, but its result is.
  FULL JOIN (
    SELECT
      arg_min(line, line.line_no) AS line,
      line.file AS file,
      tool_call_id AS id,
      any_value(tool_name) AS name,
      min(occurred_ms) AS result_ms,
      any_value(text_of_parts(content)) AS output,
      any_value(from_json(details, '{
        "path": "VARCHAR", "resolvedPath": "VARCHAR", "diff": "VARCHAR", "created": "BOOLEAN", "exitCode": "BIGINT"
      }')) AS details,
      max(duration_ms) AS duration_ms,
      bool_and(NOT is_error) AS success
    FROM message
    WHERE role = 'toolResult'
      AND tool_call_id IS NOT NULL
    GROUP BY line.file, tool_call_id
  ) AS answered
    ON answered.id = call.id
    AND answered.file = call.line.file
  -- OpenClaw calls most tools by the tool `tool_call`. The call within counts.
  WHERE NOT (
    coalesce(call.name, answered.name) = 'tool_call'
    AND coalesce(call.id, answered.id) IN (SELECT parent_tool_call_id FROM entry WHERE parent_tool_call_id IS NOT NULL)
  )
  UNION ALL
  -- A script calls tools within one call.
  SELECT
    line,
    occurred_ms,
    nested.id AS id,
    nested.name AS name,
    nested.arguments AS args,
    occurred_ms AS result_ms,
    coalesce(nested.error, nested.output) AS output,
    nested.details AS details,
    nested.durationMs AS duration_ms,
    tool_success(nested.status = 'ok', nested.details.exitCode) AS success
  FROM (
    SELECT
      line,
      occurred_ms,
      unnest(from_json(nested_calls, '{"calls": [{
        "id": "VARCHAR", "name": "VARCHAR", "status": "VARCHAR", "durationMs": "BIGINT", "error": "VARCHAR", "output": "VARCHAR",
        "arguments": {"path": "VARCHAR", "command": "VARCHAR", "content": "VARCHAR"},
        "details": {"path": "VARCHAR", "resolvedPath": "VARCHAR", "diff": "VARCHAR", "created": "BOOLEAN", "exitCode": "BIGINT"}
      }]}').calls) AS nested
    FROM message
    WHERE role = 'toolResult'
      AND nested_calls IS NOT NULL
  )
  WHERE nested.id IS NOT NULL
),
event AS (
  SELECT
    line,
    occurred_ms,
    'model_usage' AS type,
    event_id,
    model_or_unknown(model) AS model,
    tokens.input AS input_tokens,
    tokens.output AS output_tokens,
    tokens.cacheRead AS cache_read_tokens,
    tokens.cacheWrite AS cache_write_tokens,
    tokens.cacheWrite1h AS cache_write_1h_tokens,
    request_id
  FROM usage
  WHERE coalesce(tokens.input, 0) + coalesce(tokens.output, 0) + coalesce(tokens.cacheRead, 0) + coalesce(tokens.cacheWrite, 0) > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'assistant_message' AS type,
    'message:' || coalesce(response_id, id) AS event_id
  FROM message
  WHERE role = 'assistant'
    AND coalesce(response_id, id) IS NOT NULL
    -- A try that failed has no answer.
    AND (response_id IS NOT NULL OR tokens.output > 0)
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'assistant_message' AS type,
    'message:run:' || run_id AS event_id
  FROM lost_answer
  WHERE tokens.output > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'user_message' AS type,
    'turn:' || id || ':' || occurred_ms AS event_id
  FROM entry
  WHERE role = 'user'
    AND is_human
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    name AS tool_name,
    success,
    duration_ms
  FROM tool
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    'file_change' AS type,
    'file:' || id AS event_id,
    coalesce(details.resolvedPath, details.path, args.path) AS path,
    CASE WHEN is_new THEN 'create' ELSE 'edit' END AS operation,
    CASE
      WHEN is_new AND details.diff IS NULL THEN added_lines('create', args.content, NULL)
      ELSE len(list_filter(string_split(details.diff, chr(10)), lambda text: prefix(text, '+')))
    END AS lines_added,
    CASE
      WHEN is_new THEN 0
      ELSE len(list_filter(string_split(details.diff, chr(10)), lambda text: prefix(text, '-')))
    END AS lines_removed
  FROM (
    SELECT
      *,
      -- Pi and OMP don't tell whether a file was there before: one that the session read or wrote before was.
      name = 'write' AND coalesce(details.created, count(*) OVER earlier = 0) AS is_new
    FROM tool
    WHERE success
      AND name IN ('read', 'write', 'edit')
    WINDOW earlier AS (
      PARTITION BY line.file, replace(coalesce(details.resolvedPath, details.path, args.path), line.cwd || '/', '')
      ORDER BY occurred_ms, line.line_no, id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
  )
  WHERE name <> 'read'
    AND coalesce(details.resolvedPath, details.path, args.path) IS NOT NULL
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    'git_commit' AS type,
    'commit:' || id || made.ending AS event_id,
    made.name AS commit_sha
  FROM (
    SELECT
      *,
      unnest(commits_of(args.command, nullif(output, '(no output)'), success, NULL)) AS made
    FROM tool
    WHERE (is_shell_tool(name) OR name = 'exec')
      AND result_ms IS NOT NULL
  )
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    'pull_request' AS type,
    'pull_request:' || id || opened.ending AS event_id,
    opened.name AS url
  FROM (
    SELECT
      *,
      unnest(CASE
        WHEN is_shell_tool(name) OR name = 'exec' THEN pull_requests_of(args.command, nullif(output, '(no output)'), success, NULL)
        ELSE pull_requests_of_tool(name, output, success)
      END) AS opened
    FROM tool
    WHERE result_ms IS NOT NULL
  )
)
SELECT
  event.line.source AS source,
  event.line.line_no AS line_no,
  CASE WHEN event.line.session_id IS NULL THEN 'missing_member session' END AS form_fault,
  event.* EXCLUDE (line),
  event.line.session_id AS session_id,
  event.line.cwd AS cwd,
  event.line.agent AS agent,
  'log' AS channel
FROM event
