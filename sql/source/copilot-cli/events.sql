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
    'session.start', 'session.resume', 'session.model_change', 'session.mode_changed', 'session.permissions_changed', 'session.usage_record', 'session.shutdown',
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
total AS MATERIALIZED (
  SELECT
    shutdown.line.source AS source,
    min(shutdown.line.line_no) AS line_no,
    shutdown.occurred_ms AS occurred_ms,
    shutdown.id AS id,
    min(coalesce(try_cast(shutdown.data.sessionStartTime AS BIGINT), rfc3339_ms(shutdown.data.sessionStartTime))) AS started_ms,
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
-- The models that a session was told to use, and when it was resumed: instants in order.
told_model AS (
  SELECT
    line.source AS source,
    list(occurred_ms ORDER BY occurred_ms) FILTER (WHERE model IS NOT NULL) AS since,
    list(model ORDER BY occurred_ms) FILTER (WHERE model IS NOT NULL) AS models,
    list(occurred_ms ORDER BY occurred_ms) FILTER (WHERE type = 'session.resume') AS resumed
  FROM (
    SELECT
      line,
      type,
      occurred_ms,
      nullif(coalesce(data.newModel, data.selectedModel), '') AS model
    FROM session_line
    WHERE type IN ('session.start', 'session.resume', 'session.model_change')
      AND occurred_ms IS NOT NULL
  )
  GROUP BY line.source
),
-- Messages of these versions have their output tokens, and nothing else of a call.
spoken AS MATERIALIZED (
  SELECT
    session_line.line AS line,
    session_line.occurred_ms AS occurred_ms,
    coalesce(data.messageId, id) AS id,
    model_or_unknown(coalesce(data.model, valid_at(told_model.since, told_model.models, session_line.occurred_ms))) AS model,
    data.outputTokens AS output_tokens
  FROM session_line
  LEFT JOIN first_record
    ON first_record.source = session_line.line.source
  LEFT JOIN told_model
    ON told_model.source = session_line.line.source
  WHERE type = 'assistant.message'
    AND data.outputTokens > 0
    AND (first_record.occurred_ms IS NULL OR session_line.occurred_ms < first_record.occurred_ms)
),
shutdown AS MATERIALIZED (
  SELECT
    ended.*,
    list_max(list_filter(told_model.resumed, lambda instant: instant <= ended.occurred_ms)) AS resumed_ms
  FROM (
    SELECT
      source,
      id,
      occurred_ms,
      min(started_ms) AS started_ms,
      sum(usage.outputTokens) AS output_tokens,
      lag(occurred_ms) OVER by_time AS earlier_ms,
      lag(sum(usage.outputTokens)) OVER by_time AS earlier_output_tokens
    FROM total
    GROUP BY
      source,
      id,
      occurred_ms
    WINDOW by_time AS (PARTITION BY source ORDER BY occurred_ms, id)
  ) AS ended
  LEFT JOIN told_model USING (source)
),
-- The output tokens of messages between a shutdown and the one before, and of those after the last resume: what came before a resume
-- without a shutdown may be missing in the totals.
spoken_until AS (
  SELECT
    shutdown.source AS source,
    shutdown.id AS id,
    spoken.model AS model,
    sum(spoken.output_tokens) AS all_output_tokens,
    coalesce(sum(spoken.output_tokens) FILTER (WHERE spoken.occurred_ms > coalesce(shutdown.resumed_ms, 0)), 0) AS output_tokens
  FROM shutdown
  LEFT JOIN spoken
    ON spoken.line.source = shutdown.source
    AND spoken.occurred_ms <= shutdown.occurred_ms
    AND spoken.occurred_ms > coalesce(shutdown.earlier_ms, 0)
  WHERE spoken.id IS NOT NULL
  GROUP BY
    shutdown.source,
    shutdown.id,
    spoken.model
),
-- After a resume totals can go on from those of the shutdown before, or begin again. They have begun again if the session's start is
-- later than that, if a counter is smaller, or if they have grown by less than messages say.
grown AS (
  SELECT
    *,
    lag(usage) OVER (
      PARTITION BY source, model
      ORDER BY occurred_ms, id
    ) AS earlier
  FROM total
),
restarted AS (
  SELECT
    shutdown.source AS source,
    shutdown.id AS id,
    any_value(shutdown.earlier_ms) IS NOT NULL
      AND (
        coalesce(any_value(shutdown.started_ms) > any_value(shutdown.earlier_ms), false)
        OR coalesce(bool_or(
          usage.inputTokens < earlier.inputTokens
          OR usage.outputTokens < earlier.outputTokens
          OR usage.cacheReadTokens < earlier.cacheReadTokens
          OR usage.cacheWriteTokens < earlier.cacheWriteTokens
        ), false)
        OR any_value(shutdown.output_tokens) - any_value(shutdown.earlier_output_tokens) < coalesce(any_value(said.output_tokens), 0)
      ) AS is_restarted
  FROM shutdown
  LEFT JOIN grown
    ON grown.source = shutdown.source
    AND grown.id = shutdown.id
  LEFT JOIN (
    SELECT
      source,
      id,
      sum(output_tokens) AS output_tokens
    FROM spoken_until
    GROUP BY
      source,
      id
  ) AS said
    ON said.source = shutdown.source
    AND said.id = shutdown.id
  GROUP BY
    shutdown.source,
    shutdown.id
),
used AS (
  SELECT
    grown.source AS source,
    grown.line_no AS line_no,
    grown.occurred_ms AS occurred_ms,
    grown.id AS id,
    grown.model AS model,
    CASE
      WHEN restarted.is_restarted OR earlier IS NULL THEN usage
      ELSE {
        'inputTokens': coalesce(usage.inputTokens, 0) - coalesce(earlier.inputTokens, 0),
        'outputTokens': coalesce(usage.outputTokens, 0) - coalesce(earlier.outputTokens, 0),
        'cacheReadTokens': coalesce(usage.cacheReadTokens, 0) - coalesce(earlier.cacheReadTokens, 0),
        'cacheWriteTokens': coalesce(usage.cacheWriteTokens, 0) - coalesce(earlier.cacheWriteTokens, 0)
      }
    END AS usage
  FROM grown
  LEFT JOIN restarted
    ON restarted.source = grown.source
    AND restarted.id = grown.id
),
-- The output tokens that messages report before a shutdown, by model: its totals count beyond them. Not all messages name their model, so if they
-- have more of a model than the totals, the same number is missing in the model with the most output.
said AS (
  SELECT
    source,
    id,
    model,
    CASE
      WHEN sum(all_output_tokens) OVER of_shutdown <= used_output_tokens THEN all_output_tokens
      ELSE output_tokens
    END AS output_tokens
  FROM spoken_until
  LEFT JOIN (
    SELECT
      source,
      id,
      sum(usage.outputTokens) AS used_output_tokens
    FROM used
    GROUP BY
      source,
      id
  ) AS sums USING (source, id)
  WINDOW of_shutdown AS (PARTITION BY source, id)
),
rest AS (
  SELECT
    coalesce(used.source, said.source) AS source,
    coalesce(used.id, said.id) AS id,
    used.line_no AS line_no,
    used.occurred_ms AS occurred_ms,
    used.model AS model,
    used.usage AS usage,
    coalesce(used.usage.outputTokens, 0) - coalesce(said.output_tokens, 0) AS difference,
    sum(greatest(-difference, 0)) OVER (PARTITION BY coalesce(used.source, said.source), coalesce(used.id, said.id)) AS missing,
    row_number() OVER (
      PARTITION BY coalesce(used.source, said.source), coalesce(used.id, said.id)
      ORDER BY difference DESC, used.model
    ) AS place
  FROM used
  FULL JOIN said
    ON said.source = used.source
    AND said.id = used.id
    AND said.model = used.model
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
    line,
    occurred_ms,
    'usage:' || id AS event_id,
    model,
    {
      'inputTokens': CAST(0 AS BIGINT),
      'outputTokens': output_tokens,
      'cacheReadTokens': CAST(0 AS BIGINT),
      'cacheWriteTokens': CAST(0 AS BIGINT)
    } AS usage
  FROM spoken
  UNION ALL BY NAME
  SELECT
    {'source': source, 'line_no': line_no} AS line,
    occurred_ms,
    id_with('usage:' || id, model) AS event_id,
    model,
    {
      'inputTokens': usage.inputTokens,
      'outputTokens': CAST(greatest(difference - CASE WHEN place = 1 THEN missing ELSE 0 END, 0) AS BIGINT),
      'cacheReadTokens': usage.cacheReadTokens,
      'cacheWriteTokens': usage.cacheWriteTokens
    } AS usage
  FROM rest
  WHERE model IS NOT NULL
),
completed AS (
  SELECT
    line.source AS source,
    data.toolCallId AS id,
    min(occurred_ms) AS result_ms,
    bool_and(tool_success(data.success, data.shellExecution.exitCode)) AS success,
    CASE WHEN bool_or(data.error.code IN ('denied', 'rejected')) THEN true END AS is_stopped,
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
    completed.result_ms AS result_ms,
    completed.success AS success,
    completed.is_stopped AS is_stopped,
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
    model_or_unknown(model) AS model,
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
    is_stopped,
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
    'commit:' || id || made.ending AS event_id,
    made.name AS commit_sha
  FROM (
    SELECT
      *,
      unnest(commits_of(command, command_output(output), success, NULL)) AS made
    FROM tool
    WHERE is_shell_tool(name)
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
        WHEN is_shell_tool(name) THEN pull_requests_of(command, command_output(output), success, NULL)
        ELSE pull_requests_of_tool(name, output, success)
      END) AS opened
    FROM tool
    WHERE result_ms IS NOT NULL
  )
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
