-- One row is one event of an agent that follows OpenTelemetry's conventions for generative AI, such as Copilot, or that reports as the AI
-- SDK does, such as opencode. docs/otlp.md has the mapping in words.
-- Reads record.
WITH
own AS (
  SELECT
    source,
    common,
    attributes,
    took_ms,
    span,
    coalesce(span, digest) AS other,
    CASE name
      WHEN 'invoke_agent' THEN CASE WHEN is_root THEN 'user_message' END
      WHEN 'execute_tool' THEN 'tool_call'
      WHEN 'ai.toolCall' THEN 'tool_call'
      WHEN 'execute_hook' THEN 'hook_run'
      ELSE 'model_usage'
    END AS type,
    tokens_of(coalesce(attributes['gen_ai.usage.input_tokens'], attributes['gen_ai.usage.prompt_tokens'])) AS all_input,
    tokens_of(coalesce(attributes['gen_ai.usage.output_tokens'], attributes['gen_ai.usage.completion_tokens'])) AS output,
    tokens_of(
      coalesce(
        attributes['gen_ai.usage.cache_read.input_tokens'],
        attributes['ai.usage.inputTokenDetails.cacheReadTokens'],
        attributes['ai.usage.cachedInputTokens']
      )
    ) AS cached,
    tokens_of(
      coalesce(
        attributes['gen_ai.usage.cache_write.input_tokens'],
        attributes['gen_ai.usage.cache_creation.input_tokens'],
        attributes['ai.usage.inputTokenDetails.cacheWriteTokens']
      )
    ) AS written
  FROM record
),
event AS (
  SELECT
    *,
    CASE
      WHEN type <> 'tool_call' THEN NULL
      WHEN mcp_tool IS NOT NULL THEN 'mcp__' || server || '__' || mcp_tool
      ELSE plain_name
    END AS called,
    CASE WHEN type = 'tool_call' THEN coalesce(id_of(attributes['gen_ai.tool.call.id']), id_of(attributes['ai.toolCall.id']), 'otlp:' || other) END AS call,
    -- Copilot says that a command succeeded if it ran.
    CASE
      WHEN type = 'tool_call' THEN attributes['error.type/is_set'] IS NULL AND coalesce(attributes['process.exit.code'], '0') = '0'
    END AS is_success
  FROM (
    SELECT
      *,
      CASE
        WHEN type = 'tool_call'
          THEN coalesce(
            nullif(attributes['github.copilot.tool.parameters.mcp_tool_name'], ''),
            nullif(regexp_extract(plain_name, '^[0-9a-f]{64}/([0-9a-f]{12})[0-9a-f]{52}$', 1), '')
          )
      END AS mcp_tool,
      -- Copilot names its MCP servers only with the content of calls, otherwise by a SHA-256. Its CLI does so with their tools, too.
      CASE
        WHEN mcp_tool IS NOT NULL
          THEN coalesce(
            nullif(attributes['github.copilot.tool.parameters.mcp_server_name'], ''),
            nullif(left(attributes['github.copilot.tool.parameters.mcp_server_name_hash'], 12), ''),
            nullif(regexp_extract(plain_name, '^([0-9a-f]{12})[0-9a-f]{52}/[0-9a-f]{64}$', 1), ''),
            'unknown'
          )
      END AS server
    FROM (
      SELECT
        *,
        coalesce(attributes['gen_ai.tool.name'], attributes['ai.toolCall.name']) AS plain_name
      FROM own
    )
  )
  WHERE type IN ('user_message', 'tool_call', 'hook_run')
    OR type = 'model_usage' AND is_used(all_input, output, cached, written)
)
SELECT
  source,
  common,
  type,
  CASE type
    WHEN 'model_usage' THEN 'usage:otlp:' || coalesce(id_of(attributes['gen_ai.response.id']), other)
    WHEN 'user_message' THEN 'turn:otlp:' || other
    WHEN 'hook_run' THEN 'hook:otlp:' || other
    ELSE 'tool:' || call
  END AS event_id,
  CASE type WHEN 'model_usage' THEN model_or_unknown(coalesce(nullif(attributes['gen_ai.response.model'], ''), attributes['gen_ai.request.model'])) END AS model,
  CASE type WHEN 'model_usage' THEN nullif(attributes['gen_ai.request.model'], coalesce(nullif(attributes['gen_ai.response.model'], ''), attributes['gen_ai.request.model'])) END AS requested_model,
  CASE type WHEN 'model_usage' THEN attributes['gen_ai.response.id'] END AS request_id,
  CASE type WHEN 'model_usage' THEN greatest(all_input - cached - written, 0) END AS input_tokens,
  CASE type WHEN 'model_usage' THEN output END AS output_tokens,
  CASE type WHEN 'model_usage' THEN cached END AS cache_read_tokens,
  CASE type WHEN 'model_usage' THEN written END AS cache_write_tokens,
  CASE type WHEN 'model_usage' THEN word_of(coalesce(nullif(attributes['gen_ai.provider.name'], ''), attributes['gen_ai.system'])) END AS provider,
  called AS tool_name,
  server AS mcp_server,
  is_success AS success,
  CASE WHEN type IN ('tool_call', 'hook_run') THEN count_of(took_ms) END AS duration_ms,
  CASE type WHEN 'hook_run' THEN attributes['copilot_chat.hook_type'] END AS hook_event,
  CASE type WHEN 'hook_run' THEN coalesce(nullif(attributes['copilot_chat.hook_command'], ''), 'unknown') END AS command,
  CASE type WHEN 'hook_run' THEN nullif(translate(attributes['github.copilot.hook.tool_names'], ',[]" ', '|'), '') END AS matcher,
  -- It has the result, not the exit code: 2 blocks, and any other one but 0 is an error that blocks nothing.
  CASE
    WHEN type <> 'hook_run' THEN NULL
    WHEN 'non_blocking_error' IN (attributes['copilot_chat.hook_result_kind'], attributes['github.copilot.hook.decision']) THEN 1
    WHEN attributes['copilot_chat.hook_result_kind'] = 'error' OR attributes['github.copilot.hook.decision'] = 'block' THEN 2
    WHEN attributes['copilot_chat.hook_result_kind'] = 'success' OR attributes['github.copilot.hook.decision'] = 'pass' THEN 0
  END AS exit_code
FROM event
UNION ALL BY NAME
SELECT
  source,
  common,
  'skill_use' AS type,
  'skill:' || call AS event_id,
  name_of(attributes['github.copilot.tool.parameters.skill_name']) AS skill_name
FROM event
WHERE type = 'tool_call'
  AND skill_name IS NOT NULL
UNION ALL BY NAME
-- The path of a file is there only with the content of calls. How many lines changed is never there.
SELECT
  source,
  common,
  'file_change' AS type,
  'file:' || call AS event_id,
  name_of(attributes['github.copilot.tool.parameters.file_path']) AS path,
  CASE attributes['github.copilot.tool.parameters.edit_type'] WHEN 'create' THEN 'create' ELSE 'edit' END AS operation
FROM event
WHERE type = 'tool_call'
  AND is_success
  AND attributes['github.copilot.tool.parameters.edit_type'] <> ''
  AND path IS NOT NULL
UNION ALL BY NAME
SELECT
  source,
  common,
  'pull_request' AS type,
  'pull_request:' || call AS event_id
FROM event
WHERE len(pull_requests_of_tool(called, NULL, is_success)) > 0
