-- One row is one event of a log record or a span of Claude Code, or of a plugin of opencode that reports as Claude Code does.
-- docs/otlp.md has the mapping in words.
-- Reads record.
WITH
own AS (
  SELECT
    source,
    common,
    name,
    attributes,
    took_ms,
    CASE
      WHEN attributes['tool_name'] = 'mcp_tool' AND attributes['tool_parameters/mcp_tool_name'] <> ''
        THEN 'mcp__' || attributes['tool_parameters/mcp_server_name'] || '__' || attributes['tool_parameters/mcp_tool_name']
      ELSE attributes['tool_name']
    END AS called,
    coalesce(id_of(attributes['tool_use_id']), 'otlp:' || coalesce(span, digest)) AS call,
    'otlp:' || coalesce(id_of(attributes['request_id']), span, digest) AS reply,
    -- A prompt has the id of its line in the transcript. A command has none, nor has a prompt of older versions; and the prompt.id of one
    -- that was queued is that of the turn that was running.
    CASE
      WHEN name = 'user_prompt'
        THEN coalesce(
          id_of(attributes['message.uuid']),
          'otlp:' || coalesce(CASE WHEN coalesce(attributes['delivery.mode'], '') <> 'mid_turn' THEN id_of(attributes['prompt.id']) END, digest)
        )
    END AS turn,
    coalesce(attributes['success'], 'true') <> 'false' AND attributes['error.type/is_set'] IS NULL AND name <> 'tool_decision' AS is_success,
    tokens_of(attributes['input_tokens']) AS input,
    tokens_of(attributes['output_tokens']) AS output,
    tokens_of(attributes['cache_read_tokens']) AS cache_read,
    tokens_of(attributes['cache_creation_tokens']) AS cache_write,
    CASE WHEN name = 'api_request' THEN attributes['cache_creation_1h_tokens'] END AS told_hour,
    CASE WHEN name = 'api_request' THEN attributes['cache_creation_5m_tokens'] END AS told_minutes,
    nullif(attributes['command_name'], '') AS slash_command,
    coalesce(attributes['tool_parameters/skill_name'], attributes['tool_input/skill']) AS skill,
    CASE
      WHEN name = 'tool_result'
        THEN list_concat(
          -- The hash is there if git printed one.
          list_transform(
            commits_of(attributes['tool_parameters/full_command'], 'not known', is_success, nullif(attributes['tool_parameters/git_commit_id'], '')),
            lambda made: {'type': 'git_commit', 'ending': (made).ending, 'name': (made).name}
          ),
          list_transform(
            list_concat(
              pull_requests_of(attributes['tool_parameters/full_command'], NULL, is_success, NULL),
              pull_requests_of_tool(called, NULL, is_success)
            ),
            lambda opened: {'type': 'pull_request', 'ending': (opened).ending, 'name': (opened).name}
          )
        )
    END AS git,
    CASE
      WHEN name = 'tool_result'
        THEN changed_files(
          attributes['tool_name'],
          {
            'file_path': nullif(attributes['tool_input/file_path'], ''),
            'notebook_path': nullif(attributes['tool_input/notebook_path'], ''),
            'path': CAST(NULL AS VARCHAR),
            'patch': CAST(NULL AS VARCHAR),
            'input': CAST(NULL AS VARCHAR),
            'command': CAST(NULL AS VARCHAR)
          },
          -- Nothing says whether a file was there. One that an earlier call of the session has read or written was.
          CASE WHEN state['knows_file'] = 'true' THEN 'update' END,
          NULL
        )[1]
    END AS file
  FROM record
),
event AS (
  SELECT
    *,
    NULL AS ending,
    NULL AS printed,
    unnest(
      CASE
        -- Transcripts have no line of the command that ends a session.
        WHEN name = 'user_prompt' AND attributes['command_source'] = 'builtin' AND slash_command IN ('exit', 'quit') THEN []
        WHEN name = 'user_prompt' THEN ['user_message', CASE WHEN slash_command IS NOT NULL THEN 'slash_command' END]
        WHEN name IN ('api_request', 'llm_request')
          THEN [
            CASE WHEN is_used(input, output, cache_read, cache_write) THEN 'model_usage' END,
            CASE
              WHEN regexp_matches(coalesce(attributes['query_source'], ''), '^($|main|subagent|sdk|repl_main_thread|agent)') THEN 'assistant_message'
            END
          ]
        WHEN name = 'tool_result'
          THEN [
            'tool_call',
            CASE WHEN is_success AND name_of((file).path) IS NOT NULL THEN 'file_change' END,
            CASE WHEN called = 'Skill' THEN 'skill_use' END
          ]
        WHEN name IN ('tool', 'tool_decision') THEN ['tool_call']
        WHEN name = 'retention_sweep' AND tokens_of(attributes['transcripts_deleted']) > 0 THEN ['retention_sweep']
      END
    ) AS type
  FROM own
  UNION ALL BY NAME
  SELECT
    * EXCLUDE (git_event),
    (git_event).ending AS ending,
    (git_event).name AS printed,
    (git_event).type AS type
  FROM (
    SELECT
      *,
      unnest(git) AS git_event
    FROM own
  )
)
SELECT
  source,
  common,
  type,
  CASE type
    WHEN 'user_message' THEN 'turn:' || turn
    WHEN 'slash_command' THEN 'slash:' || turn
    WHEN 'model_usage' THEN 'usage:' || reply
    WHEN 'assistant_message' THEN 'message:' || reply
    WHEN 'tool_call' THEN 'tool:' || call
    WHEN 'file_change' THEN 'file:' || call
    WHEN 'git_commit' THEN 'commit:' || call || ending
    WHEN 'pull_request' THEN 'pull_request:' || call || ending
    WHEN 'skill_use' THEN 'skill:' || call
    WHEN 'retention_sweep' THEN 'retention_sweep:' || call
  END AS event_id,
  CASE type WHEN 'slash_command' THEN slash_command END AS command_name,
  CASE type WHEN 'model_usage' THEN model_or_unknown(attributes['model']) END AS model,
  CASE type WHEN 'model_usage' THEN attributes['request_id'] END AS request_id,
  CASE type WHEN 'model_usage' THEN input END AS input_tokens,
  CASE type WHEN 'model_usage' THEN output END AS output_tokens,
  CASE type WHEN 'model_usage' THEN cache_read END AS cache_read_tokens,
  CASE type WHEN 'model_usage' THEN cache_write END AS cache_write_tokens,
  -- Older versions and spans don't say how much lives an hour, and how much five minutes.
  CASE
    WHEN type <> 'model_usage' THEN NULL
    WHEN told_hour IS NOT NULL THEN tokens_of(told_hour)
    WHEN told_minutes IS NOT NULL THEN greatest(cache_write - tokens_of(told_minutes), 0)
  END AS cache_write_1h_tokens,
  CASE type WHEN 'model_usage' THEN word_of(attributes['speed']) END AS speed,
  CASE type WHEN 'model_usage' THEN word_of(attributes['effort']) END AS effort,
  CASE type WHEN 'model_usage' THEN provider_of(attributes['anthropic.provider']) END AS provider,
  CASE type WHEN 'model_usage' THEN word_of(attributes['anthropic.plan']) END AS plan,
  CASE type WHEN 'model_usage' THEN dollars_of(attributes['cost_usd']) END AS reported_cost_usd,
  CASE type WHEN 'tool_call' THEN called END AS tool_name,
  CASE
    WHEN type = 'tool_call'
      THEN coalesce(nullif(attributes['tool_parameters/mcp_server_name'], ''), CASE WHEN called = 'mcp_tool' THEN 'unknown' END)
  END AS mcp_server,
  CASE type WHEN 'tool_call' THEN is_success END AS success,
  CASE WHEN type = 'tool_call' AND name = 'tool_decision' THEN true END AS is_stopped,
  CASE WHEN type = 'tool_call' THEN CASE name WHEN 'tool_result' THEN milliseconds_of(attributes['duration_ms']) WHEN 'tool' THEN count_of(took_ms) END END AS duration_ms,
  CASE type WHEN 'file_change' THEN (file).path END AS path,
  CASE type WHEN 'file_change' THEN (file).operation END AS operation,
  CASE type WHEN 'git_commit' THEN printed END AS commit_sha,
  CASE type WHEN 'retention_sweep' THEN tokens_of(attributes['transcripts_deleted']) END AS transcripts_deleted,
  CASE type WHEN 'retention_sweep' THEN count_of(try_cast(attributes['period_days'] AS DOUBLE)) END AS period_days,
  -- The word that Claude Code itself has for skills that it doesn't name.
  CASE type WHEN 'skill_use' THEN coalesce(name_of(skill), 'custom_skill') END AS skill_name
FROM event
WHERE type IS NOT NULL
