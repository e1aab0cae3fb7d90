-- One row is one event of a Droid session, in the columns that rules.sql reads. docs/droid.md describes the mapping.
-- Reads session_lines and settings.
WITH
session_line AS MATERIALIZED (
  SELECT * FROM session_lines
),
message AS (
  SELECT *
  FROM session_line
  WHERE type = 'message'
),
-- A session is a file.
session AS MATERIALIZED (
  SELECT
    started.source AS source,
    started.session_id AS session_id,
    started.cwd AS cwd,
    started.agent_version AS agent_version,
    CASE WHEN list_contains(settings.tags, 'exec') THEN 'non-interactive-cli' END AS client,
    started.is_called OR coalesce(list_contains(settings.tags, 'subagent'), false) AS is_subagent,
    settings.model AS model,
    settings.tokens AS tokens,
    settings.interaction_mode AS interaction_mode,
    settings.autonomy_mode AS autonomy_mode
  FROM (
    SELECT
      line.source AS source,
      min(id) AS session_id,
      min(cwd) AS cwd,
      min(agent_version) AS agent_version,
      bool_or(is_called) AS is_called
    FROM session_line
    WHERE type = 'session_start'
    GROUP BY line.source
  ) AS started
  LEFT JOIN settings USING (source)
),
-- A prompt says whether it asks for a plan; this is valid until the session's next one: instants and modes, in order.
interaction AS (
  SELECT
    line.source AS source,
    list(occurred_ms ORDER BY occurred_ms) AS since,
    list(interaction_mode ORDER BY occurred_ms) AS modes
  FROM message
  WHERE interaction_mode IS NOT NULL
    AND occurred_ms IS NOT NULL
  GROUP BY line.source
),
tool_result AS (
  SELECT
    source,
    part.tool_use_id AS tool_use_id,
    min(occurred_ms) AS result_ms,
    -- A command that fails is no error to some versions.
    bool_and(tool_success(
      NOT coalesce(part.is_error, false),
      try_cast(regexp_extract(part.content, '^Error: Command failed \(exit code: (\d+)\)', 1) AS BIGINT)
    )) AS success,
    CASE WHEN bool_or(coalesce(part.is_error, false) AND says_stopped(part.content)) THEN true END AS is_stopped,
    any_value(part.content) AS output
  FROM (
    SELECT
      line.source AS source,
      occurred_ms,
      unnest(blocks) AS part
    FROM message
    WHERE role = 'user'
  )
  WHERE part.type = 'tool_result'
  GROUP BY
    source,
    part.tool_use_id
),
tool AS MATERIALIZED (
  SELECT
    tool_use.occurred_ms AS occurred_ms,
    tool_use.line AS line,
    tool_use.part.id AS id,
    tool_use.part.name AS name,
    tool_use.part.input AS input,
    tool_result.result_ms AS result_ms,
    tool_result.success AS success,
    tool_result.is_stopped AS is_stopped,
    tool_result.output AS output
  FROM (
    SELECT
      occurred_ms,
      line,
      unnest(blocks) AS part
    FROM message
    WHERE role = 'assistant'
  ) AS tool_use
  LEFT JOIN tool_result
    ON tool_result.tool_use_id = tool_use.part.id
    AND tool_result.source = tool_use.line.source
  WHERE tool_use.part.type = 'tool_use'
),
file_change AS (
  SELECT
    result_ms AS occurred_ms,
    line,
    id,
    unnest(changed_files(name, input, NULL, NULL)) AS file
  FROM tool
  WHERE success
),
-- Settings have one total for the session. It is dated by the first message, so that it replaces itself as it grows.
usage AS (
  SELECT
    min(message.occurred_ms) AS occurred_ms,
    {'source': session.source, 'line_no': min(message.line.line_no)} AS line,
    any_value(session.session_id) AS session_id,
    coalesce(any_value(session.model), max(message.model)) AS model,
    any_value(session.tokens) AS tokens
  FROM session
  JOIN message
    ON message.line.source = session.source
  WHERE session.tokens IS NOT NULL
  GROUP BY session.source
),
event AS (
  SELECT
    occurred_ms,
    line,
    'model_usage' AS type,
    'usage:' || session_id AS event_id,
    model_or_unknown(model) AS model,
    coalesce(tokens.inputTokens, 0) AS input_tokens,
    coalesce(tokens.outputTokens, 0) + coalesce(tokens.thinkingTokens, 0) AS output_tokens,
    coalesce(tokens.cacheReadTokens, 0) AS cache_read_tokens,
    coalesce(tokens.cacheCreationTokens, 0) AS cache_write_tokens
  FROM usage
  WHERE input_tokens > 0 OR output_tokens > 0 OR cache_read_tokens > 0 OR cache_write_tokens > 0
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'assistant_message' AS type,
    id_with('message:' || occurred_ms, id) AS event_id
  FROM message
  WHERE role = 'assistant'
  UNION ALL BY NAME
  -- Messages of a person, not the results of tools and the reminders that the program writes.
  SELECT
    message.occurred_ms AS occurred_ms,
    message.line AS line,
    'user_message' AS type,
    id_with('turn:' || message.occurred_ms, message.id) AS event_id
  FROM message
  LEFT JOIN session
    ON session.source = message.line.source
  WHERE message.role = 'user'
    AND message.is_shown
    AND NOT coalesce(session.is_subagent, false)
    AND NOT list_contains(list_transform(message.blocks, lambda part: part.type), 'tool_result')
    AND len(list_filter(message.blocks, lambda part:
      part.type <> 'text' OR trim(regexp_replace(part.text, '(?s)<system-reminder>.*?</system-reminder>', '', 'g'), E' \t\r\n') <> ''
    )) > 0
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    name AS tool_name,
    success,
    is_stopped
  FROM tool
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'file_change' AS type,
    id_with('file:' || id, file.path) AS event_id,
    file.path AS path,
    file.operation AS operation
  FROM file_change
  WHERE file.path IS NOT NULL
  UNION ALL BY NAME
  SELECT
    result_ms AS occurred_ms,
    line,
    'git_commit' AS type,
    'commit:' || id || made.ending AS event_id,
    made.name AS commit_sha
  FROM (
    SELECT
      *,
      unnest(commits_of(input.command, command_output(output), success, NULL)) AS made
    FROM tool
    WHERE is_shell_tool(name)
      AND result_ms IS NOT NULL
  )
  UNION ALL BY NAME
  SELECT
    result_ms AS occurred_ms,
    line,
    'pull_request' AS type,
    'pull_request:' || id || opened.ending AS event_id,
    opened.name AS url
  FROM (
    SELECT
      *,
      unnest(CASE
        WHEN is_shell_tool(name) THEN pull_requests_of(input.command, command_output(output), success, NULL)
        ELSE pull_requests_of_tool(name, output, success)
      END) AS opened
    FROM tool
    WHERE result_ms IS NOT NULL
  )
  UNION ALL BY NAME
  -- The output of `droid exec` is no session.
  SELECT
    line,
    'missing_member session_start' AS form_fault
  FROM message
  WHERE is_stream
)
SELECT
  event.line.source AS source,
  event.line.line_no AS line_no,
  CASE
    WHEN event.form_fault IS NOT NULL THEN event.form_fault
    WHEN session.session_id IS NULL THEN 'missing_member session_start'
  END AS form_fault,
  event.* EXCLUDE (line, form_fault),
  session.session_id AS session_id,
  session.client AS client,
  CASE
    WHEN coalesce(valid_at(interaction.since, interaction.modes, event.occurred_ms), session.interaction_mode) = 'spec' THEN 'spec'
    ELSE session.autonomy_mode
  END AS autonomy_mode,
  'droid' AS agent,
  session.agent_version AS agent_version,
  session.cwd AS cwd,
  'log' AS channel
FROM event
LEFT JOIN session
  ON session.source = event.line.source
LEFT JOIN interaction
  ON interaction.source = event.line.source
