-- One row is one event of a Codex rollout, in the columns that rules.sql reads. docs/codex.md describes the mapping.
-- Reads rollout_lines.
WITH
rollout_line AS MATERIALIZED (
  SELECT
    rfc3339_ms("timestamp") AS occurred_ms,
    * EXCLUDE ("timestamp")
  FROM rollout_lines
),
-- The thread of a file is that of its first session_meta. Resumes and forks repeat others.
thread AS MATERIALIZED (
  SELECT
    source,
    occurred_ms AS started_ms,
    payload.forked_from_id IS NOT NULL AS is_fork,
    payload.history_base IS NOT NULL AS has_base,
    payload.parent_thread_id IS NOT NULL OR (payload.source->'subagent'->'thread_spawn'->>'parent_thread_id') IS NOT NULL AS has_parent,
    {
      'id': payload.id,
      -- A text is how a person started it, and an object what did so instead, unless it is the custom name of a program.
      'is_of_agent': coalesce(json_type(payload.source) = 'OBJECT' AND (payload.source->'custom') IS NULL, false),
      'client': codex_client_of(payload.originator, payload.source->>'$'),
      'agent_version': payload.cli_version,
      'cwd': payload.cwd,
      'repo': payload.git.repository_url,
      'git_branch': payload.git.branch
    } AS thread
  FROM rollout_line
  WHERE type = 'session_meta'
    AND payload.id IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY source ORDER BY line_no) = 1
),
-- What lines say about who wrote them. A turn that is newer than the thread is its own, and an older one its parent's: both have UUIDv7 as
-- ids, which sort by time. If they don't, the parent's turns are those of the first second.
sign AS (
  SELECT
    rollout_line.source AS source,
    line_no,
    occurred_ms,
    occurred_ms < started_ms AS is_earlier,
    occurred_ms - lag(occurred_ms) OVER (PARTITION BY rollout_line.source ORDER BY line_no) >= 1000 AS is_after_pause,
    type = 'token_usage_record' AND payload.thread_id = thread.thread.id AS is_own_record,
    type = 'session_meta' AND is_uuid_v7(payload.id) AND payload.id < thread.thread.id AS is_of_parent,
    CASE
      WHEN type <> 'turn_context' AND kind IS DISTINCT FROM 'task_started' THEN NULL
      WHEN is_uuid_v7(payload.turn_id) AND is_uuid_v7(thread.thread.id) THEN payload.turn_id >= thread.thread.id
      ELSE occurred_ms > started_ms + 1000
    END AS is_own_turn,
    is_uuid_v7(payload.turn_id) AS has_turn_time
  FROM thread
  -- TRICKY: an inner join would pair every thread with every line, because filters aren't pushed down here.
  LEFT JOIN rollout_line ON rollout_line.source = thread.source
),
first_own_sign AS (
  SELECT
    source,
    min(line_no) AS first_line_no,
    min(CASE WHEN is_own_turn OR is_own_record THEN line_no END) AS line_no,
    coalesce(bool_or(is_earlier), false) AS has_earlier_lines,
    coalesce(bool_or(is_earlier OR is_of_parent OR (has_turn_time AND NOT is_own_turn)), false) AS has_lines_of_parent
  FROM sign
  GROUP BY source
),
-- A fork without history_base begins with its parent's lines: at new times, all at once, or at their old ones. Sub-agents can do so too. The
-- thread's own lines begin with its first turn or record, or, if it calls a model before, as to compact what it has taken over, after the
-- parent's last turn: at the first line that isn't older than the thread, or that comes after a pause.
own_start AS MATERIALIZED (
  SELECT
    thread.source AS source,
    any_value((is_fork AND NOT has_base) OR (has_parent AND has_lines_of_parent)) AS repeats,
    CASE
      WHEN repeats
        THEN least(
          any_value(first_own_sign.line_no),
          min(
            CASE
              WHEN sign.line_no > coalesce(last_turn.line_no, 0)
                AND CASE WHEN has_earlier_lines THEN NOT is_earlier ELSE is_after_pause END
                AND sign.line_no > first_line_no
                THEN sign.line_no
            END
          )
        )
      ELSE any_value(first_line_no)
    END AS line_no
  FROM thread
  LEFT JOIN first_own_sign USING (source)
  LEFT JOIN sign USING (source)
  LEFT JOIN (
    SELECT
      sign.source AS source,
      max(sign.line_no) AS line_no
    FROM sign
    LEFT JOIN first_own_sign USING (source)
    WHERE (NOT sign.is_own_turn OR sign.is_of_parent)
      AND sign.line_no < coalesce(first_own_sign.line_no, sign.line_no + 1)
    GROUP BY sign.source
  ) AS last_turn USING (source)
  GROUP BY thread.source
),
-- The lines that the thread itself has written, each with the turn and the settings at that point. The columns that all events of a
-- line share are members of one column, `line`.
own_line AS MATERIALIZED (
  SELECT
    source,
    line_no,
    occurred_ms,
    type,
    kind,
    payload,
    coalesce(
      last_value(CASE WHEN type = 'turn_context' OR kind IN ('task_started', 'UserMessage') THEN payload.turn_id END IGNORE NULLS) OVER so_far,
      ''
    ) AS turn_id,
    bool_or(type = 'token_usage_record') OVER so_far AS has_records,
    last_value(CASE WHEN kind = 'web_search_end' THEN {'id': payload.call_id, 'action': payload.action} END IGNORE NULLS) OVER so_far AS searched,
    -- Before its first turn, a fork has the model and the service tier of its parent.
    model,
    applied.service_tier AS service_tier,
    {
      'source': source,
      'line_no': line_no,
      'thread': thread,
      'setting': last_value(
        CASE
          WHEN type = 'turn_context'
            THEN {
              'cwd': payload.cwd,
              'autonomy_mode': codex_autonomy_mode(
                payload.collaboration_mode->>'mode',
                payload.approval_policy->>'$',
                coalesce(payload.sandbox_policy->>'type', payload.sandbox_policy->>'mode'),
                payload.permission_profile->>'type'
              )
            }
        END
        IGNORE NULLS
      ) OVER so_far
    } AS line
  FROM (
    SELECT
      rollout_line.*,
      thread.thread AS thread,
      thread.source IS NULL OR rollout_line.line_no >= own_start.line_no AS is_own,
      last_value(CASE WHEN type = 'turn_context' THEN payload.model END IGNORE NULLS) OVER (
        PARTITION BY rollout_line.source
        ORDER BY rollout_line.line_no
      ) AS model,
      last_value(
        CASE WHEN kind = 'thread_settings_applied' THEN {'service_tier': codex_service_tier(payload.thread_settings.service_tier)} END IGNORE NULLS
      ) OVER (
        PARTITION BY rollout_line.source
        ORDER BY rollout_line.line_no
      ) AS applied
    FROM rollout_line
    LEFT JOIN thread ON thread.source = rollout_line.source
    LEFT JOIN own_start ON own_start.source = rollout_line.source
  )
  WHERE is_own
  WINDOW so_far AS (PARTITION BY source ORDER BY line_no)
  -- Turns that Codex has imported from a session of another agent, such as Claude Code, whose own files have them.
  QUALIFY NOT prefix(turn_id, 'external-import-turn-')
),
-- The tokens of a thread so far, and what they were before. At its first count a fork that has no lines of its parent has the
-- parent's tokens too. One whose first own count has no more than the last call has counted from zero, whatever it repeats.
token_total AS (
  SELECT
    source,
    counted.line_no AS line_no,
    total,
    last,
    CASE
      WHEN repeats
        AND total = last
        AND counted.line_no >= own_start.line_no
        AND lag(counted.line_no) OVER in_file < own_start.line_no
        THEN {'input': 0, 'cached': 0, 'written': 0, 'output': 0}
      ELSE coalesce(
        lag(total) OVER in_file,
        CASE WHEN is_fork OR repeats THEN codex_difference(total, last) END,
        {'input': 0, 'cached': 0, 'written': 0, 'output': 0}
      )
    END AS before
  FROM (
    SELECT
      source,
      line_no,
      codex_tokens(payload.info.total_token_usage) AS total,
      CASE
        WHEN payload.info.last_token_usage IS NOT NULL THEN codex_tokens(payload.info.last_token_usage)
        ELSE total
      END AS last
    FROM rollout_line
    WHERE kind = 'token_count'
      AND payload.info.total_token_usage IS NOT NULL
  ) AS counted
  LEFT JOIN thread USING (source)
  LEFT JOIN own_start USING (source)
  WINDOW in_file AS (PARTITION BY source ORDER BY counted.line_no)
),
-- Newer versions write a record of each response. From the first one on only these count, because totals repeat them.
usage AS (
  SELECT
    occurred_ms,
    line,
    model,
    id_with('usage', payload.response_id) AS event_id,
    codex_tokens(payload.usage) AS tokens,
    coalesce(codex_service_tier(payload.service_tier), service_tier) AS service_tier
  FROM own_line
  WHERE type = 'token_usage_record'
  UNION ALL
  SELECT
    occurred_ms,
    line,
    model,
    'usage:' || line.thread.id || ':' || total.input || ':' || total.output AS event_id,
    CASE WHEN is_codex_reset(total, before) THEN last ELSE codex_difference(total, before) END AS tokens,
    service_tier
  FROM own_line
  JOIN token_total USING (source, line_no)
  WHERE NOT has_records
    AND total <> before
),
-- A message is a line of one kind, of another kind, or both. The first message of a turn is the same one in both.
turn AS (
  SELECT
    occurred_ms,
    arg_min(line, line_no) AS line,
    turn_id,
    row_number() OVER (PARTITION BY source, turn_id, kind ORDER BY min(line_no)) AS place
  FROM own_line
  WHERE kind IN ('user_message', 'UserMessage')
    AND coalesce(payload.kind, 'plain') = 'plain'
    AND NOT coalesce(line.thread.is_of_agent, false)
  GROUP BY
    source,
    turn_id,
    kind,
    occurred_ms,
    payload.item.id
),
-- Replies of older versions have no id.
reply AS (
  SELECT
    occurred_ms,
    arg_min(line, line_no) AS line,
    turn_id,
    payload.id AS id,
    row_number() OVER (PARTITION BY source, turn_id, id IS NULL ORDER BY min(line_no)) AS place
  FROM own_line
  WHERE kind = 'message'
  GROUP BY
    source,
    turn_id,
    payload.id,
    occurred_ms
),
tool_start AS MATERIALIZED (
  SELECT
    source,
    line_no,
    occurred_ms,
    line,
    -- Some searches have no id. Their end, which has one, stands before the call.
    coalesce(
      payload.call_id,
      payload.id,
      CASE WHEN searched.action = payload.action THEN searched.id END,
      line.thread.id || ':' || occurred_ms
    ) AS id,
    payload.name AS called,
    CASE WHEN payload.namespace LIKE 'mcp!_!_%' ESCAPE '!' THEN substr(payload.namespace, 6) END AS mcp_server,
    CASE
      WHEN mcp_server IS NOT NULL THEN payload.namespace || '__' || payload.name
      WHEN kind IN ('function_call', 'custom_tool_call') THEN payload.name
      ELSE regexp_replace(kind, '_call$', '')
    END AS name,
    try_cast(payload.arguments->>'$' AS JSON) AS arguments,
    payload.input AS input,
    payload.action->'command' AS command
  FROM own_line
  WHERE type = 'response_item'
    AND kind IN ('function_call', 'custom_tool_call', 'local_shell_call', 'web_search_call', 'tool_search_call', 'image_generation_call')
  QUALIFY row_number() OVER (PARTITION BY source, id ORDER BY line_no) = 1
),
-- How a tool ended, in either of two forms. Tools that a script of `exec` runs show only so. Without a name are those of sub-agents,
-- which always have a call too.
tool_end AS MATERIALIZED (
  SELECT
    source,
    line_no,
    occurred_ms,
    line,
    id,
    CASE
      WHEN kind IN ('exec_command_end', 'CommandExecution') THEN 'exec_command'
      WHEN kind IN ('patch_apply_end', 'FileChange') THEN 'apply_patch'
      WHEN kind IN ('mcp_tool_call_end', 'McpToolCall') THEN 'mcp__' || server || '__' || tool
      WHEN kind IN ('web_search_end', 'image_generation_end') THEN regexp_replace(kind, '_end$', '')
    END AS name,
    server AS mcp_server,
    tool,
    tool_success(
      CASE
        WHEN kind = 'mcp_tool_call_end' THEN (result->'Ok') IS NOT NULL AND coalesce(result->'Ok'->>'isError', 'false') <> 'true'
        WHEN kind = 'SubAgentActivity' THEN true
        WHEN says_success IS NOT NULL THEN says_success
        WHEN status = 'completed' THEN coalesce(result->>'isError', 'false') <> 'true'
        WHEN status IN ('failed', 'declined') THEN false
      END,
      exit_code
    ) AS success,
    status = 'declined' AS is_declined,
    clamped(round(1000 * try_cast(duration->>'secs' AS DOUBLE) + try_cast(duration->>'nanos' AS DOUBLE) / 1e6)) AS duration_ms,
    command,
    output,
    changes,
    result
  FROM (
    SELECT
      source,
      line_no,
      occurred_ms,
      line,
      kind,
      coalesce(payload.item.id, payload.call_id) AS id,
      coalesce(payload.item.server, payload.invocation.server) AS server,
      coalesce(payload.item.tool, payload.invocation.tool) AS tool,
      coalesce(payload.item.exit_code, payload.exit_code) AS exit_code,
      payload.success AS says_success,
      coalesce(payload.item.status, payload.status) AS status,
      coalesce(payload.item.duration, payload.duration) AS duration,
      coalesce(payload.item.command, payload.command) AS command,
      coalesce(payload.item.aggregated_output, payload.aggregated_output) AS output,
      coalesce(payload.item.changes, payload.changes) AS changes,
      coalesce(payload.item.result, payload.result) AS result
    FROM own_line
    WHERE type = 'event_msg'
      AND kind IN (
        'exec_command_end', 'patch_apply_end', 'mcp_tool_call_end', 'web_search_end', 'image_generation_end',
        'CommandExecution', 'FileChange', 'McpToolCall', 'CollabAgentToolCall', 'SubAgentActivity'
      )
  )
),
-- The output that the model got from a tool: a text, or a list of texts. A script can print all that a command returned, as JSON.
tool_output AS (
  SELECT
    source,
    line_no,
    occurred_ms,
    payload.call_id AS id,
    CASE
      WHEN json_type(payload.output) = 'ARRAY'
        THEN array_to_string(list_transform(from_json(payload.output, '[{"text": "VARCHAR"}]'), lambda part: printed_by_command(part.text)), chr(10))
      ELSE payload.output->>'$'
    END AS output
  FROM own_line
  WHERE kind IN ('function_call_output', 'custom_tool_call_output')
  QUALIFY row_number() OVER (PARTITION BY source, id ORDER BY line_no) = 1
),
tool AS MATERIALIZED (
  SELECT
    coalesce(tool_start.occurred_ms, tool_end.occurred_ms) AS occurred_ms,
    coalesce(tool_start.line, tool_end.line) AS line,
    coalesce(tool_start.id, tool_end.id) AS id,
    tool_start.called AS called,
    coalesce(tool_start.name, tool_end.name) AS name,
    coalesce(tool_start.mcp_server, tool_end.mcp_server) AS mcp_server,
    coalesce(tool_end.success, codex_success(tool_output.output)) AS success,
    CASE WHEN tool_end.is_declined OR coalesce(NOT codex_success(tool_output.output), false) AND says_stopped(tool_output.output) THEN true END AS is_stopped,
    -- The output of a command that goes on in the background has the time until then.
    CASE
      WHEN tool_end.success IS NOT NULL THEN tool_end.duration_ms
      WHEN codex_success(tool_output.output) IS NOT NULL THEN codex_duration_ms(tool_output.output)
    END AS duration_ms,
    CASE WHEN tool_end.success IS NOT NULL THEN tool_end.occurred_ms ELSE tool_output.occurred_ms END AS result_ms,
    tool_end.id IS NOT NULL AND tool_end.name = 'apply_patch' AS has_changes,
    CASE
      WHEN tool_start.called = 'exec'
        THEN coalesce(
          nullif(script_shell_lines(tool_start.input), ''),
          -- A script that only waits for a command of an earlier one gets the end of its output.
          CASE WHEN contains(tool_start.input, 'write_stdin') THEN 'write_stdin' END
        )
      ELSE coalesce(
        tool_start.arguments->>'cmd',
        shell_line(tool_start.arguments->'command'),
        shell_line(tool_start.command),
        shell_line(tool_end.command)
      )
    END AS command,
    tool_start.input AS input,
    coalesce(tool_end.output, tool_output.output) AS output,
    -- The lines between which a script runs its own tools.
    tool_start.line_no AS start_line,
    tool_output.line_no AS output_line,
    CASE WHEN is_pull_request_tool(tool_end.tool) THEN CAST(tool_end.result AS VARCHAR) END AS result
  FROM tool_start
  FULL JOIN (
    FROM tool_end QUALIFY row_number() OVER (PARTITION BY source, id ORDER BY line_no) = 1
  ) AS tool_end
    ON tool_end.source = tool_start.source
    AND tool_end.id = tool_start.id
  LEFT JOIN tool_output
    ON tool_output.source = tool_start.source
    AND tool_output.id = tool_start.id
  WHERE tool_start.id IS NOT NULL
    OR tool_end.name IS NOT NULL
),
-- Calls that may have committed or opened a pull request. A command that goes on in the background prints its end where its input is
-- written. A script says only how the script ended, so its commands count only if they
-- don't show themselves.
git_call AS (
  SELECT *
  FROM tool
  WHERE success IS NOT NULL
    AND (command IS NOT NULL OR called = 'write_stdin' OR is_pull_request_tool(name))
    AND NOT (
      coalesce(called, '') = 'exec'
      AND EXISTS (
        SELECT 1
        FROM tool AS nested
        WHERE nested.line.source = tool.line.source
          AND nested.start_line IS NULL
          AND nested.command IS NOT NULL
          AND nested.line.line_no BETWEEN tool.start_line AND tool.output_line
      )
    )
),
-- A patch without an event of its own names its files in its headings.
file_change AS (
  SELECT
    occurred_ms,
    line,
    id,
    coalesce(change->>'move_path', path) AS path,
    CASE change->>'type' WHEN 'add' THEN 'create' WHEN 'update' THEN 'edit' END AS operation,
    added_lines(
      CASE WHEN operation = 'create' AND (change->>'content') IS NOT NULL THEN 'create' END,
      change->>'content',
      CASE WHEN (change->>'unified_diff') IS NOT NULL THEN [{'lines': string_split(change->>'unified_diff', chr(10))}] END
    ) AS lines_added,
    removed_lines(
      CASE WHEN operation = 'create' THEN 'create' END,
      CASE WHEN (change->>'unified_diff') IS NOT NULL THEN [{'lines': string_split(change->>'unified_diff', chr(10))}] END
    ) AS lines_removed
  FROM (
    SELECT
      occurred_ms,
      line,
      id,
      unnest(map_entries(try_cast(changes AS MAP(VARCHAR, JSON))), recursive := true)
    FROM tool_end
    WHERE name = 'apply_patch'
      AND success
  ) AS changed (occurred_ms, line, id, path, change)
  UNION ALL BY NAME
  SELECT
    result_ms AS occurred_ms,
    line,
    id,
    unnest(patched_files(input), recursive := true)
  FROM tool
  WHERE called = 'apply_patch'
    AND NOT has_changes
    AND success
),
event AS (
  SELECT
    occurred_ms,
    line,
    'model_usage' AS type,
    event_id,
    model_or_unknown(model) AS model,
    greatest(0, tokens.input - tokens.cached - tokens.written) AS input_tokens,
    tokens.output AS output_tokens,
    tokens.cached AS cache_read_tokens,
    tokens.written AS cache_write_tokens,
    service_tier
  FROM usage
  WHERE tokens.input > 0
    OR tokens.cached > 0
    OR tokens.written > 0
    OR tokens.output > 0
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'user_message' AS type,
    id_with('turn:' || line.thread.id, turn_id || ':' || place) AS event_id
  FROM turn
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'assistant_message' AS type,
    id_with('message', coalesce(id, line.thread.id || ':' || turn_id || ':' || place)) AS event_id
  FROM reply
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'tool_call' AS type,
    id_with('tool', id) AS event_id,
    name AS tool_name,
    mcp_server,
    success,
    is_stopped,
    duration_ms
  FROM tool
  UNION ALL BY NAME
  SELECT
    occurred_ms,
    line,
    'file_change' AS type,
    id_with('file', id || ':' || md5(path)) AS event_id,
    path,
    operation,
    lines_added,
    lines_removed
  FROM file_change
  WHERE operation IS NOT NULL
  UNION ALL BY NAME
  SELECT
    result_ms AS occurred_ms,
    line,
    'git_commit' AS type,
    id_with('commit', id) || made.ending AS event_id,
    made.name AS commit_sha
  FROM (
    SELECT
      *,
      unnest(commits_of(command, command_output(output), success, NULL)) AS made
    FROM git_call
  )
  UNION ALL BY NAME
  SELECT
    result_ms AS occurred_ms,
    line,
    'pull_request' AS type,
    id_with('pull_request', id) || opened.ending AS event_id,
    opened.name AS url
  FROM (
    SELECT
      *,
      unnest(CASE
        WHEN is_pull_request_tool(name) THEN pull_requests_of_tool(name, coalesce(result, output), success)
        ELSE pull_requests_of(command, command_output(output), success, NULL)
      END) AS opened
    FROM git_call
  )
)
SELECT
  event.line.source AS source,
  event.line.line_no AS line_no,
  CASE WHEN event.line.thread.id IS NULL THEN 'missing_member session_meta' END AS form_fault,
  event.* EXCLUDE (line),
  event.line.thread.id AS session_id,
  event.line.thread.client AS client,
  event.line.setting.autonomy_mode AS autonomy_mode,
  'codex' AS agent,
  event.line.thread.agent_version AS agent_version,
  name_of(event.line.thread.repo) AS repo,
  name_of(event.line.thread.git_branch) AS git_branch,
  coalesce(event.line.setting.cwd, event.line.thread.cwd) AS cwd,
  'log' AS channel
FROM event
