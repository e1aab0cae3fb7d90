-- One row is one event of a Gemini CLI chat, in the columns that rules.sql reads. docs/gemini-cli.md describes the mapping.
-- Reads messages.
WITH
-- The columns that all events of a line share are members of one column, `line`.
chat_message AS MATERIALIZED (
  SELECT
    {'source': source, 'line_no': line_no, 'form_fault': form_fault, 'session_id': session_id} AS line,
    is_subagent,
    is_history,
    message,
    rfc3339_ms(message."timestamp") AS occurred_ms,
    message.id AS id
  FROM messages
),
-- A message is written again when it gains tokens or tool calls. A resume writes the whole history once more, with the time of the
-- resume and without tokens, model and tool calls.
reply AS (
  SELECT
    min(line) AS line,
    id,
    min(occurred_ms) AS occurred_ms,
    max(message.model) AS model,
    -- The model's answer to a summary of the history stands in the history alone.
    bool_or(NOT is_history OR message.model IS NOT NULL) AS is_reply,
    arg_max(message.tokens, message.tokens.output + coalesce(message.tokens.thoughts, 0)) AS tokens
  FROM chat_message
  WHERE message.type IN ('gemini', 'model')
  GROUP BY
    line.source,
    id
),
usage AS (
  SELECT
    * EXCLUDE (tokens, is_reply),
    greatest(coalesce(tokens.input, 0) - coalesce(tokens.cached, 0), 0) + coalesce(tokens.tool, 0) AS input_tokens,
    coalesce(tokens.output, 0) + coalesce(tokens.thoughts, 0) AS output_tokens,
    coalesce(tokens.cached, 0) AS cache_read_tokens
  FROM reply
  WHERE tokens IS NOT NULL
),
-- User messages that a person wrote. Others come from the program: results of tools, and texts that begin with one of these.
turn AS (
  SELECT
    min(line) AS line,
    id,
    min(occurred_ms) AS occurred_ms,
    max(slash_command_of(coalesce(text_of_parts(message.displayContent), text_of_parts(message.content)))) AS command_name
  FROM chat_message
  WHERE message.type = 'user'
    AND NOT is_subagent
    AND has_own_part(message.content)
    AND NOT regexp_matches(
      text_of_parts(message.content),
      '^\s*(System: Please continue\.|\[Function Response:|<session_context>|<hook_context>|<state_snapshot>)'
    )
  GROUP BY
    line.source,
    id
),
tool AS (
  SELECT
    min(line) AS line,
    call.id AS id,
    min(occurred_ms) AS occurred_ms,
    min(rfc3339_ms(call."timestamp")) AS result_ms,
    any_value(call.name) AS name,
    any_value(call.displayName) AS display_name,
    any_value(call.args) AS args,
    any_value(call.resultDisplay) AS display,
    any_value(output) AS output,
    -- A shell command that fails has the status success all the same.
    bool_and(tool_success(
      CASE WHEN call.status = 'success' THEN true WHEN call.status IN ('error', 'cancelled') THEN false END,
      CASE WHEN is_shell_tool(call.name) THEN printed_exit_code(output) END
    )) AS success,
    CASE WHEN bool_or(call.status = 'cancelled') THEN true END AS is_stopped
  FROM (
    SELECT
      * EXCLUDE (id),
      CASE
        WHEN is_shell_tool(call.name) OR is_pull_request_tool(call.name) THEN call.result[1].functionResponse.response.output
      END AS output
    FROM (
      SELECT
        *,
        unnest(message.toolCalls) AS call
      FROM chat_message
    )
  )
  GROUP BY
    line.source,
    call.id
),
event AS (
  SELECT
    line,
    occurred_ms,
    'model_usage' AS type,
    id_with('usage:' || line.session_id, id) AS event_id,
    model_or_unknown(model) AS model,
    input_tokens,
    output_tokens,
    cache_read_tokens
  FROM usage
  WHERE input_tokens + output_tokens + cache_read_tokens > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'assistant_message' AS type,
    id_with('message:' || line.session_id, id) AS event_id
  FROM reply
  WHERE is_reply
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'user_message' AS type,
    id_with('turn:' || line.session_id, id) AS event_id
  FROM turn
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'slash_command' AS type,
    id_with('slash:' || line.session_id, id) AS event_id,
    command_name
  FROM turn
  WHERE command_name IS NOT NULL
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'tool_call' AS type,
    id_with('tool:' || line.session_id, id) AS event_id,
    name AS tool_name,
    nullif(regexp_extract(display_name, ' \((.+) MCP Server\)$', 1), '') AS mcp_server,
    success,
    is_stopped
  FROM tool
  UNION ALL BY NAME
  SELECT
    line,
    coalesce(result_ms, occurred_ms) AS occurred_ms,
    'file_change' AS type,
    id_with('file:' || line.session_id, id) AS event_id,
    -- The path in the arguments can be relative to a folder that no line names.
    coalesce(display.filePath, args.file_path) AS path,
    CASE WHEN display.isNewFile THEN 'create' ELSE 'edit' END AS operation,
    display.diffStat.model_added_lines AS lines_added,
    display.diffStat.model_removed_lines AS lines_removed
  FROM tool
  WHERE success
    AND name IN ('write_file', 'replace')
  UNION ALL BY NAME
  SELECT
    line,
    coalesce(result_ms, occurred_ms) AS occurred_ms,
    'git_commit' AS type,
    id_with('commit:' || line.session_id, id) || made.ending AS event_id,
    made.name AS commit_sha
  FROM (
    SELECT
      *,
      unnest(commits_of(args.command, command_output(output), success, NULL)) AS made
    FROM tool
    WHERE is_shell_tool(name)
      AND success IS NOT NULL
  )
  UNION ALL BY NAME
  SELECT
    line,
    coalesce(result_ms, occurred_ms) AS occurred_ms,
    'pull_request' AS type,
    id_with('pull_request:' || line.session_id, id) || opened.ending AS event_id,
    opened.name AS url
  FROM (
    SELECT
      *,
      unnest(CASE
        WHEN is_shell_tool(name) THEN pull_requests_of(args.command, command_output(output), success, NULL)
        ELSE pull_requests_of_tool(name, output, success)
      END) AS opened
    FROM tool
    WHERE success IS NOT NULL
  )
  UNION ALL BY NAME
  SELECT line
  FROM chat_message
  WHERE message IS NULL
)
SELECT
  unnest(line),
  * EXCLUDE (line),
  'gemini-cli' AS agent,
  'log' AS channel
FROM event
