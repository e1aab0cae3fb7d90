-- One row is one event of a Qwen Code chat, in the columns that rules.sql reads. docs/qwen-code.md describes the mapping.
-- Reads records.
WITH
record AS MATERIALIZED (
  SELECT * REPLACE (
    {
      'input': coalesce(tokens.input, 0),
      'output': coalesce(tokens.output, 0),
      'thoughts': coalesce(tokens.thoughts, 0),
      'cached': coalesce(tokens.cached, 0),
      'total': coalesce(tokens.total, 0)
    } AS tokens
  )
  FROM records
),
-- The modes of a session: instants and modes, in order. A mode is valid until the next one.
session_modes AS (
  SELECT
    session_id,
    list(occurred_ms ORDER BY occurred_ms) AS since,
    list(autonomy_mode ORDER BY occurred_ms) AS modes
  FROM (
    SELECT
      session_id,
      occurred_ms,
      max(autonomy_mode) AS autonomy_mode
    FROM record
    WHERE subtype = 'session_approval_mode'
      AND autonomy_mode IS NOT NULL
      AND occurred_ms IS NOT NULL
      AND session_id IS NOT NULL
    GROUP BY
      session_id,
      occurred_ms
  )
  GROUP BY session_id
),
-- The answers that have a usage, once each. A branch copies lines with their ids into another session.
answer AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY session_id, is_sidechain, tokens ORDER BY occurred_ms, uuid) AS place
  FROM (
    SELECT
      session_id,
      uuid,
      is_sidechain,
      tokens,
      min(occurred_ms) AS occurred_ms
    FROM record
    WHERE type = 'assistant'
      AND tokens.total + tokens.input + tokens.output > 0
    GROUP BY
      session_id,
      uuid,
      is_sidechain,
      tokens
  )
),
-- The program writes down each call once more for itself, with the id of the response, before the answer's line. That of a sub-agent is
-- in the file of its session. The calls of agents that the program runs for itself stand only here.
told_call AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY session_id, is_sidechain, is_managed, tokens ORDER BY occurred_ms, response_id) AS place
  FROM (
    SELECT
      session_id,
      told.response_id AS response_id,
      told.subagent_name IS NOT NULL AS is_sidechain,
      coalesce(prefix(told.subagent_name, 'managed-'), false) AS is_managed,
      {
        'input': coalesce(told.input_token_count, 0),
        'output': coalesce(told.output_token_count, 0),
        'thoughts': coalesce(told.thoughts_token_count, 0),
        'cached': coalesce(told.cached_content_token_count, 0),
        'total': coalesce(told.total_token_count, 0)
      } AS tokens,
      max(told.model) AS model,
      min(occurred_ms) AS occurred_ms,
      arg_min(line, line.source) AS line
    FROM record
    WHERE told."event.name" = 'qwen-code.api_response'
      AND told.response_id IS NOT NULL
    GROUP BY ALL
  )
),
-- Which line is which call: both have the same tokens. Of several that have, the first is the first.
call_line AS MATERIALIZED (
  SELECT
    answer.session_id AS session_id,
    answer.uuid AS uuid,
    told_call.response_id AS response_id
  FROM answer
  JOIN told_call
    ON told_call.session_id = answer.session_id
    AND told_call.is_sidechain = answer.is_sidechain
    AND NOT told_call.is_managed
    AND told_call.tokens = answer.tokens
    AND told_call.place = answer.place
),
usage AS (
  SELECT
    record.line AS line,
    record.occurred_ms AS occurred_ms,
    record.autonomy_mode AS autonomy_mode,
    'usage:' || record.uuid AS event_id,
    record.model AS model,
    record.tokens AS tokens,
    call_line.response_id AS request_id
  FROM record
  LEFT JOIN call_line
    ON call_line.session_id = record.session_id
    AND call_line.uuid = record.uuid
  WHERE record.type = 'assistant'
  UNION ALL
  -- Calls without a line of their own: of agents that the program runs for itself, and of its own, such as to compress the history.
  -- As long as the session doesn't go on, the line may be still to come.
  SELECT
    line,
    occurred_ms,
    NULL AS autonomy_mode,
    'usage:' || response_id AS event_id,
    model,
    tokens,
    response_id AS request_id
  FROM told_call
  WHERE is_managed
    OR (
      NOT is_sidechain
      AND (session_id, response_id) NOT IN (SELECT session_id, response_id FROM call_line)
      AND occurred_ms < (
        SELECT max(record.occurred_ms)
        FROM record
        WHERE record.session_id = told_call.session_id
          AND NOT record.is_sidechain
          AND record.told IS NULL
      )
    )
),
tool AS MATERIALIZED (
  SELECT
    tool_use.*,
    tool_result.result_ms AS result_ms,
    tool_result.output AS output,
    tool_result.lines_changed AS lines_changed,
    coalesce(tool_result.duration_ms, told_tool.duration_ms) AS duration_ms,
    tool_result.success AS success,
    tool_result.is_stopped AS is_stopped
  FROM (
    SELECT
      line,
      session_id,
      occurred_ms,
      autonomy_mode,
      part.functionCall.id AS id,
      part.functionCall.name AS name,
      part.functionCall.args AS args
    FROM (
      SELECT
        *,
        unnest(parts) AS part
      FROM record
      WHERE type = 'assistant'
    )
    WHERE part.functionCall.name IS NOT NULL
  ) AS tool_use
  LEFT JOIN (
    SELECT
      line.source AS source,
      session_id,
      coalesce(result.callId, part.functionResponse.id) AS id,
      min(occurred_ms) AS result_ms,
      any_value(part.functionResponse.response.output) AS output,
      any_value(lines_changed) AS lines_changed,
      max(result.durationMs) AS duration_ms,
      -- The result of a sub-agent's tool has no status.
      bool_and(tool_success(
        coalesce(result.status, 'success') NOT IN ('error', 'cancelled') AND part.functionResponse.response.error IS NULL,
        CASE WHEN is_shell_tool(part.functionResponse.name) THEN printed_exit_code(part.functionResponse.response.output) END
      )) AS success,
      CASE WHEN bool_or(result.status = 'cancelled') THEN true END AS is_stopped
    FROM (
      SELECT
        *,
        unnest(parts) AS part
      FROM record
      WHERE type = 'tool_result'
    )
    WHERE part.functionResponse IS NOT NULL
    GROUP BY ALL
  ) AS tool_result
    ON tool_result.id = tool_use.id
    AND tool_result.source = tool_use.line.source
    AND tool_result.session_id = tool_use.session_id
  LEFT JOIN (
    SELECT
      session_id,
      told.call_id AS id,
      max(told.duration_ms) AS duration_ms
    FROM record
    WHERE told."event.name" = 'qwen-code.tool_call'
    GROUP BY ALL
  ) AS told_tool
    ON told_tool.id = tool_use.id
    AND told_tool.session_id = tool_use.session_id
),
event AS (
  SELECT
    line,
    occurred_ms,
    autonomy_mode,
    'model_usage' AS type,
    event_id,
    model_or_unknown(model) AS model,
    greatest(tokens.input - tokens.cached, 0) AS input_tokens,
    -- Some providers count thoughts inside of the output, others beside it.
    tokens.output + CASE WHEN tokens.total = tokens.input + tokens.output + tokens.thoughts THEN tokens.thoughts ELSE 0 END AS output_tokens,
    tokens.cached AS cache_read_tokens,
    request_id
  FROM usage
  WHERE tokens.input + tokens.output + tokens.thoughts + tokens.cached > 0
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    autonomy_mode,
    'assistant_message' AS type,
    'message:' || uuid AS event_id
  FROM record
  WHERE type = 'assistant'
    -- A sub-agent's calls of tools stand in lines of their own.
    AND (NOT is_sidechain OR tokens.total > 0 OR len(list_filter(parts, lambda part: part.text IS NOT NULL)) > 0)
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'user_message' AS type,
    'turn:' || uuid AS event_id
  FROM record
  WHERE type = 'user'
    AND coalesce(subtype, 'mid_turn_user_message') = 'mid_turn_user_message'
    AND is_human
    AND NOT is_sidechain
    AND has_own_part(content)
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    'slash_command' AS type,
    'slash:' || uuid AS event_id,
    command_name
  FROM record
  WHERE command_name IS NOT NULL
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    autonomy_mode,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    name AS tool_name,
    success,
    is_stopped,
    duration_ms
  FROM tool
  UNION ALL BY NAME
  SELECT
    line,
    occurred_ms,
    autonomy_mode,
    'skill_use' AS type,
    'skill:' || id AS event_id,
    args.skill AS skill_name
  FROM tool
  WHERE name = 'skill'
    AND args.skill IS NOT NULL
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    autonomy_mode,
    'file_change' AS type,
    'file:' || id AS event_id,
    args.file_path AS path,
    CASE WHEN regexp_matches(output, '(?i)^(successfully )?created ') THEN 'create' ELSE 'edit' END AS operation,
    lines_changed.model_added_lines AS lines_added,
    lines_changed.model_removed_lines AS lines_removed
  FROM tool
  WHERE success
    AND name IN ('write_file', 'edit', 'replace')
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    autonomy_mode,
    'git_commit' AS type,
    'commit:' || id || made.ending AS event_id,
    made.name AS commit_sha
  FROM (
    SELECT
      *,
      unnest(commits_of(args.command, command_output(output), success, NULL)) AS made
    FROM tool
    WHERE is_shell_tool(name)
      AND result_ms IS NOT NULL
  )
  UNION ALL BY NAME
  SELECT
    line,
    result_ms AS occurred_ms,
    autonomy_mode,
    'pull_request' AS type,
    'pull_request:' || id || opened.ending AS event_id,
    opened.name AS url
  FROM (
    SELECT
      *,
      unnest(CASE
        WHEN is_shell_tool(name) THEN pull_requests_of(args.command, command_output(output), success, NULL)
        ELSE pull_requests_of_tool(name, output, success)
      END) AS opened
    FROM tool
    WHERE result_ms IS NOT NULL
  )
)
SELECT
  event.line.source AS source,
  event.line.line_no AS line_no,
  CASE WHEN event.line.session_id IS NULL THEN 'missing_member sessionId' END AS form_fault,
  event.* EXCLUDE (line, autonomy_mode),
  event.line.session_id AS session_id,
  event.line.cwd AS cwd,
  nullif(event.line.git_branch, '') AS git_branch,
  event.line.agent_version AS agent_version,
  coalesce(
    event.autonomy_mode,
    valid_at(session_modes.since, session_modes.modes, event.occurred_ms)
  ) AS autonomy_mode,
  'qwen-code' AS agent,
  'log' AS channel
FROM event
LEFT JOIN session_modes
  ON session_modes.session_id = event.line.session_id
