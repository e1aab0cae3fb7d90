-- One row is one event of Gemini CLI, or of Qwen Code, which was made from it. docs/otlp.md has the mapping in words.
-- Reads record.
WITH
own AS (
  SELECT
    source,
    common,
    agent,
    name,
    attributes,
    digest,
    tokens_of(attributes['input_token_count']) AS all_input,
    tokens_of(attributes['cached_content_token_count']) AS cached,
    tokens_of(attributes['output_token_count']) AS answer,
    tokens_of(attributes['thoughts_token_count']) AS thoughts,
    CASE agent WHEN 'gemini-cli' THEN tokens_of(attributes['tool_token_count']) ELSE 0 END AS tools
  FROM record
),
counted AS (
  SELECT
    *,
    greatest(all_input - cached, 0) + tools AS input,
    -- Qwen Code has thoughts inside of the answer, unless the total says otherwise.
    CASE
      WHEN agent = 'gemini-cli' OR tokens_of(attributes['total_token_count']) = all_input + answer + thoughts THEN answer + thoughts
      ELSE answer
    END AS output
  FROM own
),
event AS (
  SELECT
    *,
    attributes['success'] = 'true' AND coalesce(attributes['decision'], '') <> 'reject' AS is_success,
    unnest(CASE
      WHEN name = 'api_response' THEN [CASE WHEN is_used(input, output, cached, 0) THEN 'model_usage' END]
      WHEN name = 'user_prompt' THEN [CASE WHEN coalesce(attributes['subagent_name'], '') = '' THEN 'user_message' END]
      WHEN name = 'slash_command' THEN [CASE WHEN regexp_full_match(attributes['command'], '/?[A-Za-z][\w:.-]{0,199}') THEN 'slash_command' END]
      WHEN name = 'tool_call'
        THEN ['tool_call', CASE WHEN len(pull_requests_of_tool(attributes['function_name'], NULL, is_success)) > 0 THEN 'pull_request' END]
    END) AS type
  FROM counted
)
SELECT
  source,
  common,
  type,
  CASE type
    WHEN 'model_usage' THEN 'usage:otlp:' || coalesce(id_of(attributes['response_id']), digest)
    WHEN 'user_message' THEN 'turn:otlp:' || digest
    WHEN 'slash_command' THEN 'slash:otlp:' || digest
    WHEN 'tool_call' THEN 'tool:' || coalesce(id_of(attributes['call_id']), 'otlp:' || digest)
    WHEN 'pull_request' THEN 'pull_request:' || coalesce(id_of(attributes['call_id']), 'otlp:' || digest)
  END AS event_id,
  CASE type WHEN 'model_usage' THEN model_or_unknown(attributes['model']) END AS model,
  CASE type WHEN 'model_usage' THEN attributes['response_id'] END AS request_id,
  CASE type WHEN 'model_usage' THEN input END AS input_tokens,
  CASE type WHEN 'model_usage' THEN output END AS output_tokens,
  CASE type WHEN 'model_usage' THEN cached END AS cache_read_tokens,
  CASE type WHEN 'slash_command' THEN attributes['command'] END AS command_name,
  CASE type WHEN 'tool_call' THEN attributes['function_name'] END AS tool_name,
  CASE type WHEN 'tool_call' THEN nullif(attributes['mcp_server_name'], '') END AS mcp_server,
  CASE type WHEN 'tool_call' THEN is_success END AS success,
  CASE WHEN type = 'tool_call' AND attributes['decision'] = 'reject' THEN true END AS is_stopped,
  CASE type WHEN 'tool_call' THEN milliseconds_of(attributes['duration_ms']) END AS duration_ms
FROM event
WHERE type IS NOT NULL
