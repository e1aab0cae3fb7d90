-- One row is one event of a chat of Copilot in VS Code, in the columns that rules.sql reads. docs/copilot-chat.md describes the mapping.
-- Reads chats.
WITH
chat AS MATERIALIZED (
  SELECT *
  FROM chats
),
request AS MATERIALIZED (
  SELECT
    line,
    request.requestId AS id,
    request."timestamp" AS occurred_ms,
    NOT coalesce(request.isSystemInitiated, false) AS is_human,
    request.slashCommand.name AS command,
    request.agent.extensionVersion AS agent_version,
    -- A code of a fleet of machines names no model, and `auto` lets Copilot choose one.
    coalesce(
      CASE WHEN NOT starts_with(request.result.metadata.resolvedModel, 'capi-') THEN nullif(request.result.metadata.resolvedModel, '') END,
      nullif(nullif(regexp_replace(request.modelId, '^(copilot/|.*/)', ''), 'auto'), '')
    ) AS model,
    coalesce(request.promptTokens, request.result.metadata.promptTokens, 0) AS input_tokens,
    coalesce(request.completionTokens, request.result.metadata.outputTokens, 0) AS output_tokens,
    request.result IS NOT NULL AS is_ended,
    flatten(list_transform(request.result.metadata.toolCallRounds, lambda turn: turn.toolCalls)) AS calls,
    request.response AS parts
  FROM chat
  WHERE request.requestId IS NOT NULL
),
shown AS MATERIALIZED (
  SELECT
    line,
    id AS request,
    part.toolCallId AS id,
    part.toolId AS name,
    part.toolSpecificData.terminalCommandState.duration AS duration_ms,
    coalesce(
      part.toolSpecificData.commandLine.userEdited,
      part.toolSpecificData.commandLine.toolEdited,
      part.toolSpecificData.commandLine.original
    ) AS command,
    (part.isConfirmed ->> '$') = 'false' OR (part.isConfirmed ->> '$.type') = '0' AS is_stopped,
    tool_success(
      CASE
        WHEN (part.isConfirmed ->> '$') = 'false' OR (part.isConfirmed ->> '$.type') = '0' THEN false
        WHEN (part.resultDetails ->> '$.isError') = 'true' THEN false
        WHEN part.isComplete THEN true
      END,
      part.toolSpecificData.terminalCommandState.exitCode
    ) AS success
  FROM (
    SELECT
      line,
      id,
      unnest(parts) AS part
    FROM request
    WHERE is_ended
  )
  WHERE part.kind = 'toolInvocationSerialized'
    AND part.toolCallId IS NOT NULL
),
-- What the model called, and how it ended as far as it was shown. Older versions tell only what was shown.
tool AS MATERIALIZED (
  SELECT
    called.line AS line,
    called.request AS request,
    called.occurred_ms AS occurred_ms,
    called.call.id AS id,
    called.call.name AS name,
    called.call.arguments.filePath AS path,
    coalesce(shown.command, called.call.arguments.command) AS command,
    shown.duration_ms AS duration_ms,
    shown.is_stopped AS is_stopped,
    shown.success AS success
  FROM (
    SELECT
      line,
      id AS request,
      occurred_ms,
      unnest(calls) AS call
    FROM request
    WHERE is_ended
  ) AS called
  LEFT JOIN shown
    ON shown.id = called.call.id
    AND shown.request = called.request
    AND shown.line.source = called.line.source
  WHERE called.call.id IS NOT NULL
  UNION ALL BY NAME
  SELECT
    shown.line AS line,
    shown.request AS request,
    request.occurred_ms AS occurred_ms,
    shown.id AS id,
    shown.name AS name,
    shown.command AS command,
    shown.duration_ms AS duration_ms,
    shown.is_stopped AS is_stopped,
    shown.success AS success
  FROM shown
  JOIN request
    ON request.id = shown.request
    AND request.line.source = shown.line.source
  WHERE len(coalesce(request.calls, [])) = 0
),
-- The files that were changed, as they were shown. Without any, those that the model's calls name.
edited AS (
  SELECT
    line,
    id AS request,
    occurred_ms,
    part.uri.path AS path
  FROM (
    SELECT
      line,
      id,
      occurred_ms,
      unnest(parts) AS part
    FROM request
    WHERE is_ended
  )
  WHERE part.kind = 'textEditGroup'
    AND part.uri.path IS NOT NULL
),
file_change AS (
  SELECT DISTINCT
    line,
    request,
    occurred_ms,
    path,
    EXISTS (
      SELECT 1
      FROM tool
      WHERE tool.request = edited.request
        AND tool.name = 'create_file'
        AND ends_with(edited.path, replace(tool.path, '\', '/'))
    ) AS is_new
  FROM edited
  UNION ALL
  SELECT DISTINCT
    line,
    request,
    occurred_ms,
    path,
    bool_or(name = 'create_file') OVER (PARTITION BY line.source, request, path) AS is_new
  FROM tool
  WHERE name IN ('create_file', 'replace_string_in_file', 'insert_edit_into_file', 'edit_notebook_file')
    AND path IS NOT NULL
    AND success IS DISTINCT FROM false
    AND request NOT IN (SELECT request FROM edited)
),
event AS (
  SELECT
    line,
    occurred_ms,
    agent_version,
    'user_message' AS type,
    'turn:' || id AS event_id
  FROM request
  WHERE is_human
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    agent_version,
    'slash_command' AS type,
    'slash:' || id AS event_id,
    command AS command_name
  FROM request
  WHERE is_human
    AND command IS NOT NULL
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    agent_version,
    'model_usage' AS type,
    'usage:' || id AS event_id,
    model_or_unknown(model) AS model,
    input_tokens,
    output_tokens
  FROM request
  WHERE is_used(input_tokens, output_tokens, 0, 0)
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    agent_version,
    'assistant_message' AS type,
    'message:' || id AS event_id
  FROM request
  WHERE output_tokens > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    name AS tool_name,
    success,
    CASE WHEN is_stopped THEN true END AS is_stopped,
    count_of(duration_ms) AS duration_ms
  FROM tool
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'file_change' AS type,
    'file:' || request || ':' || path AS event_id,
    path,
    CASE WHEN is_new THEN 'create' ELSE 'edit' END AS operation
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
      unnest(commits_of(command, NULL, success, NULL)) AS made
    FROM tool
    WHERE name = 'run_in_terminal'
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
      unnest(CASE
        WHEN name = 'run_in_terminal' THEN pull_requests_of(command, NULL, success, NULL)
        ELSE pull_requests_of_tool(name, NULL, success)
      END) AS opened
    FROM tool
  )
  UNION ALL BY NAME
  -- A line of the log that is no JSON.
  SELECT DISTINCT
    line,
    'missing_member kind' AS form_fault
  FROM chat
  WHERE is_damaged
)
SELECT
  event.line.source AS source,
  event.line.line_no AS line_no,
  event.* EXCLUDE (line),
  event.line.session_id AS session_id,
  event.line.cwd AS cwd,
  'copilot-chat' AS agent,
  'vscode' AS client,
  'log' AS channel
FROM event
