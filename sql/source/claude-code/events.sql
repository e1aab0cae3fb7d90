-- One row is one event of a Claude Code transcript, in the columns that rules.sql reads. docs/claude-code.md describes the mapping.
-- Reads transcript_lines.
WITH
-- The columns that all events of a line share are members of one column, `line`.
transcript_line AS MATERIALIZED (
  SELECT
    -- All known timestamps end in Z. An event with an unreadable time is rejected.
    epoch_ms(CAST(try_cast("timestamp" AS TIMESTAMPTZ) AS TIMESTAMP)) AS occurred_ms,
    -- Some proxies give every message the id ''. Then the request tells answers apart, or the line.
    coalesce(message_id, request_id, uuid) AS answer_id,
    CASE WHEN is_sidechain THEN '' ELSE coalesce(request_id, '') END AS request_key,
    * EXCLUDE ("timestamp")
  FROM transcript_lines
),
-- The permission mode is only on prompt lines and is valid until the session's next one: instants and modes, in order. Sub-agents have
-- it too, from files of their own. After the last line of the session itself it is unknown: the next prompt may still be to come.
session_modes AS (
  SELECT
    session_id,
    list(occurred_ms ORDER BY occurred_ms) AS since,
    list(autonomy_mode ORDER BY occurred_ms) AS modes
  FROM (
    SELECT
      line.session_id AS session_id,
      occurred_ms,
      max(autonomy_mode_of(permission_mode)) AS autonomy_mode
    FROM transcript_line
    WHERE type = 'user'
      AND autonomy_mode_of(permission_mode) IS NOT NULL
      AND occurred_ms IS NOT NULL
      AND line.session_id IS NOT NULL
    GROUP BY
      line.session_id,
      occurred_ms
    UNION ALL
    SELECT
      line.session_id AS session_id,
      max(occurred_ms) + 1 AS occurred_ms,
      NULL AS autonomy_mode
    FROM transcript_line
    WHERE NOT is_sidechain
    GROUP BY line.session_id
  )
  GROUP BY session_id
),
-- Older versions wrote a sub-agent's answers only into the progress of the tool that ran it.
nested_answer AS (
  SELECT
    coalesce(epoch_ms(CAST(try_cast(nested."timestamp" AS TIMESTAMPTZ) AS TIMESTAMP)), occurred_ms) AS occurred_ms,
    line,
    coalesce(nullif(nested.message.id, ''), nullif(nested.requestId, ''), nested.uuid) AS answer_id,
    nullif(nested.requestId, '') AS request_id,
    nested.message.model AS model,
    nested.message.usage AS usage
  FROM (
    SELECT
      occurred_ms,
      line,
      from_json(progress, '{"message": {
        "uuid": "VARCHAR", "timestamp": "VARCHAR", "requestId": "VARCHAR",
        "message": {
          "id": "VARCHAR", "model": "VARCHAR",
          "usage": {
            "input_tokens": "BIGINT", "output_tokens": "BIGINT",
            "cache_read_input_tokens": "BIGINT", "cache_creation_input_tokens": "BIGINT",
            "cache_creation": {"ephemeral_5m_input_tokens": "BIGINT", "ephemeral_1h_input_tokens": "BIGINT"},
            "iterations": "JSON", "speed": "VARCHAR", "service_tier": "VARCHAR", "inference_geo": "VARCHAR",
            "server_tool_use": {"web_search_requests": "BIGINT"}
          }
        }
      }}').message AS nested
    FROM transcript_line
    WHERE contains(progress, '"agent_progress"')
  )
  WHERE nested.message.usage IS NOT NULL
),
-- A model's answer is written several times while it streams. It counts with its largest usage, at the time of its first line.
-- This groups the lines of one file. Copies in other files get the same id, and settling decides later which one counts, so it
-- doesn't matter which files are read together. Side chains and progress lines may replay an answer under another request id, so
-- there the message id alone is the key.
answer AS MATERIALIZED (
  SELECT
    min(occurred_ms) AS occurred_ms,
    {
      'source': line.source,
      'line_no': min(line.line_no),
      'session_id': line.session_id,
      'cwd': min(line.cwd),
      'git_branch': min(line.git_branch),
      'agent_version': min(line.agent_version),
      'entrypoint': min(line.entrypoint),
      'agent_id': min(line.agent_id)
    } AS line,
    answer_id,
    request_key,
    max(request_id) AS request_id,
    max(requested_model) AS requested_model,
    bool_or(is_message) AS is_message,
    max(model) AS model,
    arg_min(model, occurred_ms) AS first_model,
    -- Whether another model took over in the middle.
    min(model) <> max(model) OR bool_or(coalesce(contains(usage.iterations, '"fallback_message"'), false)) AS is_taken_over,
    bool_or(usage IS NOT NULL) AS has_usage,
    coalesce(max(usage.input_tokens), 0) AS input_tokens,
    coalesce(max(usage.output_tokens), 0) AS output_tokens,
    coalesce(max(usage.cache_read_input_tokens), 0) AS cache_read_tokens,
    max(cache_written(usage)) AS cache_write_tokens,
    max(usage.cache_creation.ephemeral_1h_input_tokens) AS cache_write_1h_tokens,
    {
      'speed': word_of(max(usage.speed)),
      'service_tier': word_of(max(usage.service_tier)),
      'region': word_of(max(usage.inference_geo))
    } AS way,
    max(usage.server_tool_use.web_search_requests) AS web_searches,
    arg_max(usage.iterations, usage.output_tokens) FILTER (WHERE contains(usage.iterations, '"advisor_message"')) AS iterations
  FROM (
    SELECT
      occurred_ms,
      line,
      answer_id,
      request_key,
      request_id,
      requested_model,
      true AS is_message,
      model,
      usage
    FROM transcript_line
    WHERE type = 'assistant'
    UNION ALL
    SELECT
      occurred_ms,
      line,
      answer_id,
      '' AS request_key,
      request_id,
      NULL AS requested_model,
      false AS is_message,
      model,
      usage
    FROM nested_answer
  )
  WHERE coalesce(model, '') <> '<synthetic>'
  GROUP BY
    answer_id,
    request_key,
    line.source,
    line.session_id
),
-- If another model took over, each has the usage of its own lines, or of its own iterations where a line lists them. The model of the first
-- line has the answer's id, and the others have their name in it.
model_share AS (
  SELECT
    min(occurred_ms) AS occurred_ms,
    answer_id,
    request_key,
    source,
    session_id,
    model,
    max(input_tokens) AS input_tokens,
    max(output_tokens) AS output_tokens,
    max(cache_read_tokens) AS cache_read_tokens,
    max(cache_write_tokens) AS cache_write_tokens,
    max(cache_write_1h_tokens) AS cache_write_1h_tokens
  FROM (
    SELECT
      min(occurred_ms) AS occurred_ms,
      answer_id,
      request_key,
      source,
      session_id,
      coalesce(part.model, model) AS model,
      CAST(sum(part.input_tokens) AS BIGINT) AS input_tokens,
      CAST(sum(part.output_tokens) AS BIGINT) AS output_tokens,
      CAST(sum(part.cache_read_input_tokens) AS BIGINT) AS cache_read_tokens,
      CAST(sum(cache_written(part)) AS BIGINT) AS cache_write_tokens,
      CAST(sum(part.cache_creation.ephemeral_1h_input_tokens) AS BIGINT) AS cache_write_1h_tokens
    FROM (
      SELECT
        occurred_ms,
        answer_id,
        request_key,
        line.source AS source,
        line.session_id AS session_id,
        uuid,
        model,
        unnest(
          CASE
            WHEN contains(usage.iterations, '"fallback_message"')
              THEN list_filter(model_iterations(usage.iterations), lambda part: part.type IN ('message', 'fallback_message'))
            ELSE [{
              'type': 'message',
              'model': model,
              'input_tokens': usage.input_tokens,
              'output_tokens': usage.output_tokens,
              'cache_read_input_tokens': usage.cache_read_input_tokens,
              'cache_creation_input_tokens': usage.cache_creation_input_tokens,
              'cache_creation': usage.cache_creation
            }]
          END
        ) AS part
      FROM transcript_line
      WHERE type = 'assistant'
        AND usage IS NOT NULL
        AND coalesce(model, '') <> '<synthetic>'
        AND (answer_id, request_key) IN (SELECT answer_id, request_key FROM answer WHERE is_taken_over)
    )
    GROUP BY
      answer_id,
      request_key,
      source,
      session_id,
      uuid,
      coalesce(part.model, model)
  )
  GROUP BY
    answer_id,
    request_key,
    source,
    session_id,
    model
),
-- Usage of advisors: other models that were asked for the answer. The answer's own counters don't include it.
advice AS (
  SELECT
    occurred_ms,
    line,
    answer_id,
    request_id,
    iteration.place AS place,
    iteration.usage AS usage
  FROM (
    SELECT
      occurred_ms,
      line,
      answer_id,
      request_id,
      unnest(list_transform(
        model_iterations(iterations),
        lambda usage, place: {'place': place, 'usage': usage}
      )) AS iteration
    FROM answer
    WHERE iterations IS NOT NULL
  )
  WHERE iteration.usage.type = 'advisor_message'
),
tool_result AS (
  SELECT
    source,
    session_id,
    part.tool_use_id AS tool_use_id,
    min(occurred_ms) AS result_ms,
    NOT bool_or(coalesce(part.is_error, false)) AS success,
    bool_or(is_stopped) AS is_stopped,
    -- The line of a result can appear several times, but always with the same text.
    any_value(result) AS result
  FROM (
    SELECT
      line.source AS source,
      line.session_id AS session_id,
      occurred_ms,
      is_stopped,
      CASE
        WHEN result IS NOT NULL
          THEN struct_pack(
            kind := result.type,
            path := result.filePath,
            commit_sha := result.gitOperation.commit.sha,
            pull_request_url := CASE WHEN result.gitOperation.pr.action = 'created' THEN result.gitOperation.pr.url END,
            has_commit := CASE WHEN contains(result.stdout, '] ') THEN len(printed_commits(result.stdout)) > 0 ELSE false END,
            duration_ms := coalesce(result.durationMs, result.totalDurationMs),
            lines_added := added_lines(result.type, result.content, result.structuredPatch),
            lines_removed := removed_lines(result.type, result.structuredPatch)
          )
      END AS result,
      unnest(blocks) AS part
    FROM transcript_line
    WHERE type = 'user'
      AND blocks IS NOT NULL
  )
  WHERE part.type = 'tool_result'
  GROUP BY
    source,
    session_id,
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
    CASE WHEN tool_result.is_stopped THEN true END AS is_stopped,
    tool_result.result AS result
  FROM (
    SELECT
      occurred_ms,
      line,
      unnest(blocks) AS part
    FROM transcript_line
    WHERE type = 'assistant'
      AND blocks IS NOT NULL
  ) AS tool_use
  LEFT JOIN tool_result
    ON tool_result.tool_use_id = tool_use.part.id
    AND tool_result.source = tool_use.line.source
    AND tool_result.session_id = tool_use.line.session_id
  WHERE tool_use.part.type = 'tool_use'
),
-- A tool that changes files names one file, a patch several.
file_change AS (
  SELECT
    result_ms AS occurred_ms,
    line,
    id,
    name,
    result.lines_added AS lines_added,
    result.lines_removed AS lines_removed,
    unnest(changed_files(name, input, result.kind, result.path)) AS file
  FROM tool
  WHERE success
),
-- Calls that may have committed or opened a pull request: only their output is searched.
git_call AS MATERIALIZED (
  SELECT *
  FROM tool
  WHERE result_ms IS NOT NULL
    AND (
      result.commit_sha IS NOT NULL
      OR result.pull_request_url IS NOT NULL
      OR result.has_commit
      OR is_pull_request_tool(name)
      OR (is_shell_tool(name) AND regexp_matches(input.command, 'commit|\b(?:pr|mr|pulls?|merge[-_]requests?|pull-request|gt|refs/for)\b'))
      OR (is_shell_tool(name) AND NOT success AND contains(input.command, 'git'))
    )
),
-- The output of a call that fails is only in the message, as is that of a tool of an MCP server.
git_output AS (
  SELECT
    git_call.*,
    command_output(coalesce(printed.output, told.output)) AS output
  FROM git_call
  LEFT JOIN (
    SELECT
      line.source AS source,
      line.session_id AS session_id,
      blocks[1].tool_use_id AS tool_use_id,
      any_value(result.stdout) AS output
    FROM transcript_line
    WHERE type = 'user'
      AND blocks[1].tool_use_id IN (SELECT id FROM git_call)
    GROUP BY
      line.source,
      line.session_id,
      blocks[1].tool_use_id
  ) AS printed
    ON printed.tool_use_id = git_call.id
    AND printed.source = git_call.line.source
    AND printed.session_id = git_call.line.session_id
  LEFT JOIN (
    SELECT
      source,
      session_id,
      block.tool_use_id AS tool_use_id,
      any_value(CASE json_type(block.content) WHEN 'VARCHAR' THEN block.content->>'$' ELSE CAST(block.content AS VARCHAR) END) AS output
    FROM (
      SELECT
        line.source AS source,
        line.session_id AS session_id,
        unnest(from_json(told, '[{"tool_use_id": "VARCHAR", "content": "JSON"}]')) AS block
      FROM transcript_line
      WHERE told IS NOT NULL
        AND blocks[1].tool_use_id IN (SELECT id FROM git_call)
    )
    GROUP BY
      source,
      session_id,
      block.tool_use_id
  ) AS told
    ON told.tool_use_id = git_call.id
    AND told.source = git_call.line.source
    AND told.session_id = git_call.line.session_id
),
attachment AS (
  SELECT
    occurred_ms,
    line,
    uuid,
    from_json(attachment, '{
      "type": "VARCHAR", "commandMode": "VARCHAR", "origin": { "kind": "VARCHAR" }, "prompt": "JSON",
      "hookEvent": "VARCHAR", "hookName": "VARCHAR", "toolUseID": "VARCHAR", "command": "VARCHAR",
      "exitCode": "BIGINT", "durationMs": "BIGINT"
    }') AS attached
  FROM transcript_line
  WHERE attachment IS NOT NULL
),
-- Texts that begin with one of these were written by the program, not by a person. A message typed while the agent was working is in
-- an attachment.
turn AS (
  SELECT
    occurred_ms,
    line,
    uuid,
    regexp_extract(prompt, '<command-name>\s*/?([^<\s\\][^<]*?)\s*</command-name>', 1) AS command_name
  FROM transcript_line
  WHERE type = 'user'
    AND NOT is_sidechain
    AND NOT is_meta
    AND is_human
    AND prompt NOT IN ('""', '[]')
    AND NOT is_of_program(prompt)
    AND NOT coalesce(list_contains(list_transform(blocks, lambda piece: piece.type), 'tool_result'), false)
  UNION ALL
  SELECT
    occurred_ms,
    line,
    uuid,
    NULL AS command_name
  FROM attachment
  WHERE attached.type = 'queued_command'
    AND attached.commandMode = 'prompt'
    AND coalesce(attached.origin.kind, 'human') = 'human'
    AND NOT is_of_program(left(CAST(attached.prompt AS VARCHAR), 1000))
),
-- One hook run can appear in three places. It has the same id in each, so it counts once.
hook AS (
  SELECT
    occurred_ms,
    line,
    tool_use_id,
    'Stop' AS hook_event,
    'Stop' AS hook_name,
    info.command AS command,
    NULL AS exit_code,
    info.durationMs AS duration_ms
  FROM (
    SELECT
      occurred_ms,
      line,
      tool_use_id,
      unnest(from_json(stop_hooks, '[{"command": "VARCHAR", "durationMs": "BIGINT"}]')) AS info
    FROM transcript_line
    WHERE stop_hooks IS NOT NULL
  )
  UNION ALL
  SELECT
    occurred_ms,
    line,
    attached.toolUseID,
    attached.hookEvent,
    attached.hookName,
    attached.command,
    attached.exitCode,
    attached.durationMs
  FROM attachment
  WHERE attached.type IN ('hook_success', 'hook_non_blocking_error')
  UNION ALL
  SELECT
    occurred_ms,
    line,
    tool_use_id,
    progressed.hookEvent,
    progressed.hookName,
    progressed.command,
    NULL,
    NULL
  FROM (
    SELECT
      occurred_ms,
      line,
      tool_use_id,
      from_json(progress, '{"type": "VARCHAR", "hookEvent": "VARCHAR", "hookName": "VARCHAR", "command": "VARCHAR"}') AS progressed
    FROM transcript_line
    WHERE contains(progress, '"hook_progress"')
  )
  WHERE progressed.type = 'hook_progress'
),
usage AS MATERIALIZED (
  SELECT
    occurred_ms,
    line,
    'model_usage' AS type,
    'usage:' || answer_id || ':' || request_key AS event_id,
    model_or_unknown(model) AS model,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    unnest(way),
    count_of(web_searches) AS web_searches,
    request_id,
    nullif(requested_model, model) AS requested_model
  FROM answer
  WHERE has_usage
    AND NOT coalesce(is_taken_over, false)
    AND (model IS NOT NULL OR is_used(input_tokens, output_tokens, cache_read_tokens, cache_write_tokens))
  UNION ALL BY NAME
  SELECT
    model_share.occurred_ms AS occurred_ms,
    answer.line AS line,
    'model_usage' AS type,
    'usage:' || answer.answer_id || CASE WHEN model_share.model = answer.first_model THEN '' ELSE ':' || model_share.model END || ':' || answer.request_key AS event_id,
    model_share.model AS model,
    coalesce(model_share.input_tokens, 0) AS input_tokens,
    coalesce(model_share.output_tokens, 0) AS output_tokens,
    coalesce(model_share.cache_read_tokens, 0) AS cache_read_tokens,
    model_share.cache_write_tokens AS cache_write_tokens,
    model_share.cache_write_1h_tokens AS cache_write_1h_tokens,
    unnest(answer.way),
    -- The answer says how many, not which model asked for them.
    CASE WHEN model_share.model = answer.first_model THEN count_of(answer.web_searches) END AS web_searches,
    answer.request_id AS request_id,
    nullif(answer.requested_model, model_share.model) AS requested_model
  FROM model_share
  JOIN answer
    ON answer.answer_id = model_share.answer_id
    AND answer.request_key = model_share.request_key
    AND answer.line.source = model_share.source
    AND answer.line.session_id = model_share.session_id
  WHERE answer.is_taken_over
    AND model_share.model IS NOT NULL
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'model_usage' AS type,
    'usage:' || answer_id || ':advisor:' || place AS event_id,
    model_or_unknown(usage.model) AS model,
    coalesce(usage.input_tokens, 0) AS input_tokens,
    coalesce(usage.output_tokens, 0) AS output_tokens,
    coalesce(usage.cache_read_input_tokens, 0) AS cache_read_tokens,
    cache_written(usage) AS cache_write_tokens,
    usage.cache_creation.ephemeral_1h_input_tokens AS cache_write_1h_tokens,
    request_id
  FROM advice
),
-- When a run of the agent ends, it writes what its session has used so far, by the model that was asked for. That includes calls that have no
-- answer in the file: of sub-agents, and auxiliary ones such as a compaction. The line has no time, only the time that the session's runs
-- have taken: the first one from the session's start on, a later one from a moment before its first line on.
stating_run AS MATERIALIZED (
  SELECT
    state.source AS source,
    state.session_id AS session_id,
    state.place AS place,
    state.total_ms AS total_ms,
    state.usage AS usage,
    arg_max(transcript_line.line, transcript_line.line.line_no) AS line,
    -- A compaction writes lines that are older than those before them.
    CASE WHEN state.earlier_place IS NULL THEN state.start_ms ELSE min(transcript_line.occurred_ms) END AS since_ms,
    CASE
      WHEN state.earlier_place IS NULL THEN state.start_ms
      ELSE arg_min(transcript_line.occurred_ms, transcript_line.line.line_no)
    END + state.total_ms - state.earlier_ms AS until_ms
  FROM (
    SELECT
      source,
      session_id,
      place,
      total_ms,
      start_ms,
      usage,
      lag(place) OVER in_order AS earlier_place,
      coalesce(lag(total_ms) OVER in_order, 0) AS earlier_ms
    FROM (
      SELECT
        line.source AS source,
        line.session_id AS session_id,
        line.line_no AS place,
        cost_state.total_ms AS total_ms,
        cost_state.start_ms AS start_ms,
        cost_state.usage AS usage
      FROM transcript_line
      WHERE cost_state.start_ms IS NOT NULL
        AND cost_state.total_ms IS NOT NULL
        AND cost_state.usage IS NOT NULL
        AND line.session_id IS NOT NULL
    )
    WINDOW in_order AS (PARTITION BY source, session_id ORDER BY place)
  ) AS state
  JOIN transcript_line
    ON transcript_line.line.source = state.source
    AND transcript_line.line.session_id = state.session_id
    AND transcript_line.line.line_no < state.place
    AND transcript_line.line.line_no > coalesce(state.earlier_place, -1)
  WHERE transcript_line.occurred_ms IS NOT NULL
    -- A fork begins with the totals of its parent, and it isn't known whether /clear leaves those of the session before it.
    AND (state.source, state.session_id) NOT IN (SELECT (line.source, line.session_id) FROM transcript_line WHERE is_of_parent)
    AND (state.source, state.session_id) NOT IN (SELECT (line.source, line.session_id) FROM turn WHERE command_name = 'clear')
  GROUP BY
    state.source,
    state.session_id,
    state.place,
    state.total_ms,
    state.start_ms,
    state.usage,
    state.earlier_place,
    state.earlier_ms
  -- Otherwise the totals are those of another process, or the beginning of the file is missing.
  HAVING until_ms >= max(transcript_line.occurred_ms)
),
stated_counter AS (
  SELECT
    source,
    session_id,
    place,
    model,
    unnest([
      {'name': 'input_tokens', 'stated': stated.inputTokens},
      {'name': 'output_tokens', 'stated': stated.outputTokens},
      {'name': 'cache_read_tokens', 'stated': stated.cacheReadInputTokens},
      {'name': 'cache_write_tokens', 'stated': stated.cacheCreationInputTokens},
      {'name': 'cache_write_1h_tokens', 'stated': stated.cacheCreationEphemeral1hInputTokens},
      {'name': 'web_searches', 'stated': stated.webSearchRequests}
    ], recursive := true)
  FROM (
    SELECT
      source,
      session_id,
      place,
      entry.key AS model,
      entry.value AS stated
    FROM (
      SELECT
        source,
        session_id,
        place,
        unnest(map_entries(from_json(usage, '"MAP(VARCHAR, STRUCT(inputTokens BIGINT, outputTokens BIGINT, cacheReadInputTokens BIGINT, cacheCreationInputTokens BIGINT, cacheCreationEphemeral1hInputTokens BIGINT, webSearchRequests BIGINT))"'))) AS entry
      FROM stating_run
    )
  )
),
answered_counter AS (
  SELECT
    run.source AS source,
    run.session_id AS session_id,
    run.place AS place,
    coalesce(requested_model, model) AS model,
    unnest([
      {'name': 'input_tokens', 'answered': input_tokens},
      {'name': 'output_tokens', 'answered': output_tokens},
      {'name': 'cache_read_tokens', 'answered': cache_read_tokens},
      {'name': 'cache_write_tokens', 'answered': cache_write_tokens},
      {'name': 'cache_write_1h_tokens', 'answered': cache_write_1h_tokens},
      {'name': 'web_searches', 'answered': web_searches}
    ], recursive := true)
  FROM (SELECT source, session_id, place FROM stating_run) AS run
  JOIN usage
    ON usage.line.source = run.source
    AND usage.line.session_id = run.session_id
    AND usage.line.line_no < run.place
),
-- A run states less than the file has answers after one that was killed, and then counts for nothing.
other_counter AS (
  SELECT
    source,
    session_id,
    place,
    model,
    name,
    greatest(tokens_so_far - coalesce(max(tokens_so_far) OVER earlier, 0), 0) AS tokens
  FROM (
    SELECT
      source,
      session_id,
      place,
      model,
      name,
      coalesce(sum(stated), 0) - coalesce(sum(answered), 0) AS tokens_so_far
    FROM (
      SELECT * FROM stated_counter
      UNION ALL BY NAME
      SELECT * FROM answered_counter
    )
    GROUP BY
      source,
      session_id,
      place,
      model,
      name
    QUALIFY min(tokens_so_far) OVER (PARTITION BY source, session_id, place) >= 0
  )
  WINDOW earlier AS (
    PARTITION BY source, session_id, model, name
    ORDER BY place
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
other_usage AS (
  SELECT
    source,
    session_id,
    place,
    model,
    max(CASE WHEN name = 'input_tokens' THEN tokens ELSE 0 END) AS input_tokens,
    max(CASE WHEN name = 'output_tokens' THEN tokens ELSE 0 END) AS output_tokens,
    max(CASE WHEN name = 'cache_read_tokens' THEN tokens ELSE 0 END) AS cache_read_tokens,
    max(CASE WHEN name = 'cache_write_tokens' THEN tokens ELSE 0 END) AS cache_write_tokens,
    max(CASE WHEN name = 'cache_write_1h_tokens' THEN tokens ELSE 0 END) AS cache_write_1h_tokens,
    max(CASE WHEN name = 'web_searches' THEN tokens ELSE 0 END) AS web_searches
  FROM other_counter
  GROUP BY
    source,
    session_id,
    place,
    model
  HAVING max(tokens) > 0
),
event AS (
  SELECT * FROM usage
  UNION ALL BY NAME
  SELECT
    until_ms AS occurred_ms,
    line,
    'other_usage' AS type,
    id_with('other:' || session_id || ':' || total_ms, model) AS event_id,
    model,
    CAST(input_tokens AS BIGINT) AS input_tokens,
    CAST(output_tokens AS BIGINT) AS output_tokens,
    CAST(cache_read_tokens AS BIGINT) AS cache_read_tokens,
    CAST(cache_write_tokens AS BIGINT) AS cache_write_tokens,
    CAST(cache_write_1h_tokens AS BIGINT) AS cache_write_1h_tokens,
    CAST(web_searches AS BIGINT) AS web_searches,
    until_ms - since_ms AS duration_ms
  FROM other_usage
  JOIN stating_run USING (source, session_id, place)
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'assistant_message' AS type,
    'message:' || answer_id AS event_id
  FROM answer
  WHERE is_message
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'user_message' AS type,
    'turn:' || uuid AS event_id
  FROM turn
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'slash_command' AS type,
    'slash:' || uuid AS event_id,
    command_name
  FROM turn
  WHERE command_name <> ''
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'tool_call' AS type,
    'tool:' || id AS event_id,
    name AS tool_name,
    success,
    is_stopped,
    result.duration_ms AS duration_ms
  FROM tool
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'skill_use' AS type,
    'skill:' || id AS event_id,
    coalesce(input.skill, input.command) AS skill_name
  FROM tool
  WHERE name = 'Skill'
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'file_change' AS type,
    CASE WHEN name = 'ApplyPatch' THEN id_with('file:' || id, file.path) ELSE 'file:' || id END AS event_id,
    file.path AS path,
    file.operation AS operation,
    lines_added,
    lines_removed
  FROM file_change
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
      unnest(commits_of(input.command, output, success, result.commit_sha)) AS made
    FROM git_output
    WHERE is_shell_tool(name)
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
        WHEN is_shell_tool(name) THEN pull_requests_of(input.command, output, success, result.pull_request_url)
        ELSE pull_requests_of_tool(name, output, success)
      END) AS opened
    FROM git_output
  )
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'hook_run' AS type,
    'hook:' || coalesce(tool_use_id, '') || ':' || hook_event || ':' || md5(command) AS event_id,
    hook_event,
    nullif(regexp_extract(hook_name, ':(.+)$', 1), '') AS matcher,
    left(command, 2048) AS command,
    exit_code,
    duration_ms
  FROM hook
  WHERE command IS NOT NULL
    AND hook_event IS NOT NULL
)
SELECT
  event.line.source AS source,
  event.line.line_no AS line_no,
  CASE WHEN event.line.session_id IS NULL THEN 'missing_member sessionId' END AS form_fault,
  event.* EXCLUDE (line),
  event.line.session_id AS session_id,
  client_of(event.line.entrypoint) AS client,
  CASE WHEN event.type <> 'other_usage' THEN valid_at(session_modes.since, session_modes.modes, event.occurred_ms) END AS autonomy_mode,
  'claude-code' AS agent,
  event.line.agent_version AS agent_version,
  event.line.agent_id AS agent_id,
  nullif(event.line.git_branch, '') AS git_branch,
  event.line.cwd AS cwd,
  'log' AS channel
FROM event
LEFT JOIN session_modes
  ON session_modes.session_id = event.line.session_id
