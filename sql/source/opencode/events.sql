-- One row is one event of an opencode session, in the columns that rules.sql reads. docs/opencode.md describes the mapping.
-- Reads messages.
WITH
-- Forks copy messages and parts under new ids, with the old times and call ids. So ids are made of these.
message AS MATERIALIZED (
  SELECT
    line,
    is_foreign,
    is_subagent,
    message.info.time.created AS occurred_ms,
    message.info.role AS role,
    message.info.modelID AS model,
    CASE WHEN coalesce(message.info.agent, message.info.mode) = 'plan' THEN 'spec' END AS autonomy_mode,
    coalesce(message.info.path.cwd, line.directory) AS cwd,
    message.info.time.completed IS NOT NULL OR message.info.finish IS NOT NULL AS is_finished,
    message.info.tokens AS tokens,
    message.parts AS parts
  FROM messages
),
-- A message's time is in the id of a tool, and not that of its start, which changes while the tool runs.
tool AS MATERIALIZED (
  SELECT
    message,
    part.callID || ':' || message.occurred_ms AS id,
    part.tool AS name,
    part.state AS state,
    tool_success(
      CASE
        WHEN part.state.status = 'error' THEN false
        -- An unknown tool is the tool `invalid`, which completes.
        WHEN part.state.status = 'completed' THEN part.tool <> 'invalid'
      END,
      part.state.metadata.exit
    ) AS success
  FROM (
    SELECT
      message,
      unnest(message.parts) AS part
    FROM message
    WHERE message.role = 'assistant'
  )
  WHERE part.type = 'tool'
),
file_change AS (
  SELECT
    message,
    id,
    state,
    unnest(CASE
      WHEN name IN ('write', 'edit')
        THEN [{
          'path': state.input.filePath,
          'operation': CASE WHEN name = 'write' AND NOT state.metadata.exists THEN 'create' ELSE 'edit' END,
          'lines_added': state.metadata.filediff.additions,
          'lines_removed': state.metadata.filediff.deletions
        }]
      WHEN name = 'apply_patch'
        THEN list_transform(
          list_filter(state.metadata.files, lambda file: file.type <> 'delete'),
          lambda file: {
            'path': coalesce(file.movePath, file.filePath),
            'operation': CASE WHEN file.type = 'add' THEN 'create' ELSE 'edit' END,
            'lines_added': file.additions,
            'lines_removed': file.deletions
          }
        )
    END) AS file
  FROM tool
  WHERE success
),
git_command AS (
  SELECT *
  FROM tool
  WHERE success
    AND is_shell_tool(name)
),
event AS (
  SELECT
    message,
    message.occurred_ms AS occurred_ms,
    'model_usage' AS type,
    concat_ws(':', 'usage', message.occurred_ms, message.model, message.tokens.input, message.tokens.output, message.tokens.cache.read) AS event_id,
    model_name(message.model) AS model,
    coalesce(message.tokens.input, 0) AS input_tokens,
    coalesce(message.tokens.output, 0) + coalesce(message.tokens.reasoning, 0) AS output_tokens,
    coalesce(message.tokens.cache.read, 0) AS cache_read_tokens,
    coalesce(message.tokens.cache.write, 0) AS cache_write_tokens
  FROM message
  WHERE message.role = 'assistant'
    AND message.is_finished
    AND (input_tokens > 0 OR output_tokens > 0 OR cache_read_tokens > 0 OR cache_write_tokens > 0)
  UNION ALL BY NAME
  SELECT
    message,
    message.occurred_ms AS occurred_ms,
    'assistant_message' AS type,
    concat_ws(':', 'message', message.occurred_ms, message.model) AS event_id
  FROM message
  WHERE message.role = 'assistant'
  UNION ALL BY NAME
  -- The first message of a sub-agent's session is written by the agent that started it.
  SELECT
    message,
    message.occurred_ms AS occurred_ms,
    'user_message' AS type,
    'turn:' || message.occurred_ms || ':' || md5(coalesce(message.line.directory, '')) AS event_id
  FROM message
  WHERE message.role = 'user'
    AND NOT message.is_subagent
    AND len(list_filter(message.parts, lambda part:
      part.type IN ('text', 'file') AND NOT coalesce(part.synthetic, false) AND NOT coalesce(part.ignored, false)
    )) > 0
  UNION ALL BY NAME
  SELECT
    message,
    message.occurred_ms AS occurred_ms,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    name AS tool_name,
    success,
    count_of(CAST(state.time."end" - state.time.start AS DOUBLE)) AS duration_ms
  FROM tool
  UNION ALL BY NAME
  SELECT
    message,
    message.occurred_ms AS occurred_ms,
    'skill_use' AS type,
    'skill:' || id AS event_id,
    state.input.name AS skill_name
  FROM tool
  WHERE name = 'skill'
  UNION ALL BY NAME
  SELECT
    message,
    coalesce(state.time."end", message.occurred_ms) AS occurred_ms,
    'file_change' AS type,
    id_with('file:' || id, file.path) AS event_id,
    file.path AS path,
    file.operation AS operation,
    file.lines_added AS lines_added,
    file.lines_removed AS lines_removed
  FROM file_change
  WHERE file.path IS NOT NULL
  UNION ALL BY NAME
  SELECT
    message,
    coalesce(state.time."end", message.occurred_ms) AS occurred_ms,
    'git_commit' AS type,
    'commit:' || id AS event_id,
    printed_commit(state.output) AS commit_sha
  FROM git_command
  WHERE is_commit_command(state.input.command)
    AND NOT is_nothing_committed(state.output)
  UNION ALL BY NAME
  SELECT
    message,
    coalesce(state.time."end", message.occurred_ms) AS occurred_ms,
    'pull_request' AS type,
    'pull_request:' || id AS event_id,
    printed_pull_request(state.output) AS url
  FROM git_command
  WHERE is_pull_request_command(state.input.command)
  UNION ALL BY NAME
  SELECT
    message,
    'missing_member messages' AS form_fault
  FROM message
  WHERE message.is_foreign
)
SELECT
  message.line.source AS source,
  message.line.line_no AS line_no,
  * EXCLUDE (message),
  message.line.session_id AS session_id,
  message.autonomy_mode AS autonomy_mode,
  'opencode' AS agent,
  message.line.agent_version AS agent_version,
  message.cwd AS cwd,
  'log' AS channel
FROM event
