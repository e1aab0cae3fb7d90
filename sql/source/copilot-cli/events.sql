-- One row is one event of a Copilot CLI session, in the columns that rules.sql reads. docs/copilot-cli.md describes the mapping.
-- Reads lines.
WITH
session_line AS MATERIALIZED (
  SELECT
    {'source': source, 'line_no': line_no} AS line,
    rfc3339_ms("timestamp") AS occurred_ms,
    type,
    id,
    agentId IS NOT NULL AS is_subagent,
    data
  FROM lines
  WHERE type IN (
    'session.start', 'session.mode_changed', 'session.permissions_changed', 'session.usage_record', 'session.shutdown',
    'user.message', 'assistant.message', 'tool.execution_start', 'tool.execution_complete', 'skill.invoked'
  )
),
session AS (
  SELECT
    line.source AS source,
    min(data.sessionId) AS session_id,
    min(data.copilotVersion) AS agent_version,
    min(data.context.cwd) AS cwd,
    min(data.context.branch) AS git_branch
  FROM session_line
  WHERE type = 'session.start'
  GROUP BY line.source
),
-- The agent's permissions and plan mode are valid until they change: instants and modes, in order.
permission AS (
  SELECT
    line.source AS source,
    list(occurred_ms ORDER BY occurred_ms) AS since,
    list(autonomy_mode_of(data.mode) ORDER BY occurred_ms) AS modes
  FROM session_line
  WHERE type = 'session.permissions_changed'
    AND autonomy_mode_of(data.mode) IS NOT NULL
    AND occurred_ms IS NOT NULL
  GROUP BY line.source
),
interaction AS (
  SELECT
    line.source AS source,
    list(occurred_ms ORDER BY occurred_ms) AS since,
    list(coalesce(data.newMode, data.agentMode) ORDER BY occurred_ms) AS modes
  FROM session_line
  WHERE type IN ('session.mode_changed', 'user.message')
    AND NOT is_subagent
    AND coalesce(data.newMode, data.agentMode) IS NOT NULL
    AND occurred_ms IS NOT NULL
  GROUP BY line.source
),
-- Newer versions record the usage of each call. Before them the totals at each shutdown were all there is.
first_record AS (
  SELECT
    line.source AS source,
    min(occurred_ms) AS occurred_ms
  FROM session_line
  WHERE type = 'session.usage_record'
  GROUP BY line.source
),
total AS (
  SELECT
    shutdown.line.source AS source,
    min(shutdown.line.line_no) AS line_no,
    shutdown.occurred_ms AS occurred_ms,
    shutdown.id AS id,
    entry.key AS model,
    any_value(from_json(
      entry.value,
      '{"usage": {"inputTokens": "BIGINT", "outputTokens": "BIGINT", "cacheReadTokens": "BIGINT", "cacheWriteTokens": "BIGINT"}}'
    ).usage) AS usage
  FROM session_line AS shutdown
  LEFT JOIN first_record
    ON first_record.source = shutdown.line.source,
    json_each(shutdown.data.modelMetrics) AS entry
  WHERE shutdown.type = 'session.shutdown'
    AND (first_record.occurred_ms IS NULL OR shutdown.occurred_ms < first_record.occurred_ms)
  GROUP BY
    shutdown.line.source,
    shutdown.occurred_ms,
    shutdown.id,
    entry.key
),
-- After a resume they can go on from those of the shutdown before, or begin again.
grown AS (
  SELECT
    *,
    lag(usage) OVER (
      PARTITION BY source, model
      ORDER BY occurred_ms, id
    ) AS earlier
  FROM total
),
call AS (
  SELECT
    line,
    occurred_ms,
    'usage:' || coalesce(data.usage.apiCallId, id) AS event_id,
    data.usage.apiCallId AS request_id,
    data.usage.model AS model,
    data.usage AS usage
  FROM session_line
  WHERE type = 'session.usage_record'
  UNION ALL BY NAME
  SELECT
    {'source': source, 'line_no': line_no} AS line,
    occurred_ms,
    id_with('usage:' || id, model) AS event_id,
    model,
    CASE
      WHEN earlier.inputTokens <= usage.inputTokens
        AND earlier.outputTokens <= usage.outputTokens
        AND earlier.cacheReadTokens <= usage.cacheReadTokens
        AND earlier.cacheWriteTokens <= usage.cacheWriteTokens
        THEN {
          'inputTokens': usage.inputTokens - earlier.inputTokens,
          'outputTokens': usage.outputTokens - earlier.outputTokens,
          'cacheReadTokens': usage.cacheReadTokens - earlier.cacheReadTokens,
          'cacheWriteTokens': usage.cacheWriteTokens - earlier.cacheWriteTokens
        }
      ELSE usage
    END AS usage
  FROM grown
),
completed AS (
  SELECT
    line.source AS source,
    data.toolCallId AS id,
    min(occurred_ms) AS result_ms,
    bool_and(tool_success(data.success, data.shellExecution.exitCode)) AS success,
    any_value(data.fileEdits) AS file_edits,
    any_value(data.result.content) AS output
  FROM session_line
  WHERE type = 'tool.execution_complete'
  GROUP BY
    line.source,
    data.toolCallId
),
tool AS MATERIALIZED (
  SELECT
    started.line AS line,
    started.occurred_ms AS occurred_ms,
    started.data.toolCallId AS id,
    coalesce('mcp__' || started.data.mcpServerName || '__' || started.data.mcpToolName, started.data.toolName) AS name,
    started.data.mcpServerName AS mcp_server,
    started.data.arguments.command AS command,
    is_pull_request_tool(started.data.mcpToolName)
      OR (is_shell_tool(started.data.toolName) AND is_pull_request_command(started.data.arguments.command)) AS is_pull_request,
    completed.result_ms AS result_ms,
    completed.success AS success,
    completed.file_edits AS file_edits,
    completed.output AS output
  FROM session_line AS started
  LEFT JOIN completed
    ON completed.source = started.line.source
    AND completed.id = started.data.toolCallId
  WHERE started.type = 'tool.execution_start'
),
event AS (
  SELECT
    line,
    occurred_ms,
    'model_usage' AS type,
    event_id,
    model_name(model) AS model,
    greatest(
      coalesce(usage.inputTokens, 0) - coalesce(usage.cacheReadTokens, 0) - coalesce(usage.cacheWriteTokens, 0),
      0
    ) AS input_tokens,
    coalesce(usage.outputTokens, 0) AS output_tokens,
    coalesce(usage.cacheReadTokens, 0) AS cache_read_tokens,
    coalesce(usage.cacheWriteTokens, 0) AS cache_write_tokens,
    request_id
  FROM call
  WHERE input_tokens > 0 OR output_tokens > 0 OR cache_read_tokens > 0 OR cache_write_tokens > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'assistant_message' AS type,
    'message:' || coalesce(data.messageId, id) AS event_id
  FROM session_line
  WHERE type = 'assistant.message'
  UNION ALL BY NAME
  -- Agents, skills and the loop of the autopilot write messages as well.
  SELECT
    line,
    occurred_ms,
    'user_message' AS type,
    'turn:' || id AS event_id
  FROM session_line
  WHERE type = 'user.message'
    AND NOT is_subagent
    AND coalesce(data.source, 'user') = 'user'
    AND NOT coalesce(data.isAutopilotContinuation, false)
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    name AS tool_name,
    mcp_server,
    success,
    count_of(CAST(result_ms - occurred_ms AS DOUBLE)) AS duration_ms
  FROM tool
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'skill_use' AS type,
    'skill:' || id AS event_id,
    data.name AS skill_name
  FROM session_line
  WHERE type = 'skill.invoked'
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'file_change' AS type,
    id_with('file:' || id, file.path) AS event_id,
    file.path AS path,
    file.kind AS operation
  FROM (
    SELECT
      line,
      result_ms AS occurred_ms,
      id,
      unnest(file_edits) AS file
    FROM tool
    WHERE success
  )
  WHERE file.path IS NOT NULL
    AND file.kind IN ('create', 'edit')
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    'git_commit' AS type,
    'commit:' || id AS event_id,
    printed_commit(output) AS commit_sha
  FROM tool
  WHERE success
    AND is_shell_tool(name)
    AND is_commit_command(command)
    AND NOT is_nothing_committed(output)
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    'pull_request' AS type,
    'pull_request:' || id AS event_id,
    printed_pull_request(output) AS url
  FROM tool
  WHERE success
    AND is_pull_request
)
SELECT
  event.line.source AS source,
  event.line.line_no AS line_no,
  CASE WHEN session.session_id IS NULL THEN 'missing_member session.start' END AS form_fault,
  event.* EXCLUDE (line),
  session.session_id AS session_id,
  CASE
    WHEN valid_at(interaction.since, interaction.modes, event.occurred_ms) = 'plan' THEN 'spec'
    ELSE valid_at(permission.since, permission.modes, event.occurred_ms)
  END AS autonomy_mode,
  'copilot-cli' AS agent,
  session.agent_version AS agent_version,
  session.git_branch AS git_branch,
  session.cwd AS cwd,
  'log' AS channel
FROM event
LEFT JOIN session
  ON session.source = event.line.source
LEFT JOIN permission
  ON permission.source = event.line.source
LEFT JOIN interaction
  ON interaction.source = event.line.source
