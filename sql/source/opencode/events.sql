-- One row is one event of a session of opencode or Kilo, in the columns that rules.sql reads. docs/opencode.md describes the mapping.
-- Reads messages.
WITH
-- Forks copy messages and parts under new ids, with the old times and call ids. So ids are made of these. A session of a sub-agent isn't
-- copied, and several can begin in the same millisecond: its id tells their messages apart.
message AS MATERIALIZED (
  SELECT
    line,
    is_foreign,
    is_subagent,
    message.info.time.created AS created_ms,
    -- What is older than its session is a copy.
    coalesce(message.info.time.created < line.started_ms, false) AS is_copy,
    opencode_ms(message.info.time.created, is_copy) AS occurred_ms,
    concat_ws(':', message.info.time.created, message.info.modelID, CASE WHEN is_subagent THEN line.session_id END) AS id,
    message.info.role AS role,
    message.info.modelID AS model,
    CASE WHEN coalesce(message.info.agent, message.info.mode) = 'plan' THEN 'spec' END AS autonomy_mode,
    coalesce(message.info.path.cwd, line.directory) AS cwd,
    message.info.tokens AS tokens,
    file_cost_of(message.info.cost) AS reported_cost_usd,
    list_transform(list_filter(message.parts, lambda part: part.type = 'step-finish'), lambda part: part.tokens) AS steps,
    message.parts AS parts
  FROM messages
),
-- A message's time is in the id of a tool, and not that of its start, which changes while the tool runs.
tool AS MATERIALIZED (
  SELECT
    message,
    part.callID || ':' || message.created_ms AS id,
    part.tool AS name,
    part.state AS state,
    coalesce(opencode_ms(part.state.time."end", message.is_copy), message.occurred_ms) AS ended_ms,
    tool_success(
      CASE
        WHEN part.state.status = 'error' THEN false
        -- An unknown tool is the tool `invalid`, which completes.
        WHEN part.state.status = 'completed' THEN part.tool <> 'invalid'
      END,
      part.state.metadata.exit
    ) AS success,
    CASE WHEN part.state.status = 'error' AND says_stopped(part.state.error) THEN true END AS is_stopped
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
    ended_ms,
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
-- A message can have several steps, each a call of the model. Its own tokens are those of the last one.
usage AS (
  SELECT
    message,
    opencode_tokens(CASE WHEN len(message.steps) > 0 THEN message.steps ELSE [message.tokens] END) AS tokens
  FROM message
  WHERE message.role = 'assistant'
),
event AS (
  SELECT
    message,
    message.occurred_ms AS occurred_ms,
    'model_usage' AS type,
    'usage:' || message.id AS event_id,
    model_or_unknown(message.model) AS model,
    tokens.input AS input_tokens,
    tokens.output AS output_tokens,
    tokens.cache_read AS cache_read_tokens,
    tokens.cache_write AS cache_write_tokens,
    message.reported_cost_usd AS reported_cost_usd
  FROM usage
  WHERE is_used(tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
  UNION ALL BY NAME
  SELECT
    message,
    message.occurred_ms AS occurred_ms,
    'assistant_message' AS type,
    'message:' || message.id AS event_id
  FROM message
  WHERE message.role = 'assistant'
  UNION ALL BY NAME
  -- The first message of a sub-agent's session is written by the agent that started it.
  SELECT
    message,
    message.occurred_ms AS occurred_ms,
    'user_message' AS type,
    'turn:' || message.created_ms || ':' || md5(coalesce(message.line.directory, '')) AS event_id
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
    is_stopped,
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
    ended_ms AS occurred_ms,
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
    ended_ms AS occurred_ms,
    'git_commit' AS type,
    'commit:' || id || made.ending AS event_id,
    made.name AS commit_sha
  FROM (
    SELECT
      *,
      unnest(commits_of(state.input.command, command_output(state.output), success, NULL)) AS made
    FROM tool
    WHERE is_shell_tool(name)
      AND success IS NOT NULL
  )
  UNION ALL BY NAME
  SELECT
    message,
    ended_ms AS occurred_ms,
    'pull_request' AS type,
    'pull_request:' || id || opened.ending AS event_id,
    opened.name AS url
  FROM (
    SELECT
      *,
      unnest(CASE
        WHEN is_shell_tool(name) THEN pull_requests_of(state.input.command, command_output(state.output), success, NULL)
        ELSE pull_requests_of_tool(name, state.output, success)
      END) AS opened
    FROM tool
    WHERE success IS NOT NULL
  )
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
  message.line.agent AS agent,
  message.line.agent_version AS agent_version,
  message.cwd AS cwd,
  'log' AS channel
FROM event
