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
    CASE WHEN type = 'tool_call' THEN coalesce(attributes['gen_ai.tool.name'], attributes['ai.toolCall.name']) END AS called,
    CASE WHEN type = 'tool_call' THEN coalesce(id_of(attributes['gen_ai.tool.call.id']), id_of(attributes['ai.toolCall.id']), 'otlp:' || other) END AS call,
    -- Copilot says that a command succeeded if it ran.
    CASE
      WHEN type = 'tool_call' THEN attributes['error.type/is_set'] IS NULL AND coalesce(attributes['process.exit.code'], '0') = '0'
    END AS is_success
  FROM own
  WHERE type IN ('user_message', 'tool_call')
    OR type = 'model_usage' AND is_used(all_input, output, cached, written)
)
SELECT
  source,
  common,
  type,
  CASE type
    WHEN 'model_usage' THEN 'usage:otlp:' || coalesce(id_of(attributes['gen_ai.response.id']), other)
    WHEN 'user_message' THEN 'turn:otlp:' || other
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
  is_success AS success,
  CASE type WHEN 'tool_call' THEN count_of(took_ms) END AS duration_ms
FROM event
UNION ALL BY NAME
SELECT
  source,
  common,
  'pull_request' AS type,
  'pull_request:' || call AS event_id
FROM event
WHERE len(pull_requests_of_tool(called, NULL, is_success)) > 0
