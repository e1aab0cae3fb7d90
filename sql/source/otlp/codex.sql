-- One row is one event of Codex. docs/otlp.md has the mapping in words.
-- Reads record.
WITH
own AS (
  SELECT
    source,
    common,
    name,
    attributes,
    'otlp:' || digest AS other,
    coalesce(id_of(attributes['call_id']), 'otlp:' || digest) AS call,
    nullif(attributes['mcp_server'], '') AS server,
    tokens_of(attributes['input_token_count']) AS all_input,
    tokens_of(attributes['cached_token_count']) AS cached,
    tokens_of(attributes['cache_write_token_count']) AS written,
    tokens_of(attributes['output_token_count']) AS output,
    -- The terminal interface asks for a title in a thread of its own.
    coalesce(attributes['originator'] = 'codex-tui' AND state['approval_policy'] = 'never' AND state['mcp_servers'] = '', false) AS is_title
  FROM record
),
event AS (
  SELECT
    *,
    -- Codex says that a command succeeded if it ran; how it ended is in its output.
    name = 'tool_result'
      AND coalesce(attributes['success'], 'true') <> 'false'
      AND coalesce(codex_success(attributes['output/ending']), true) AS is_success,
    name = 'tool_decision' OR says_stopped(attributes['output/ending']) AS is_stopped,
    unnest(CASE
      WHEN name = 'sse_event' THEN [CASE WHEN attributes['event.kind'] = 'response.completed' AND is_used(all_input, output, cached, written) THEN 'model_usage' END]
      WHEN name = 'user_prompt' THEN [CASE WHEN NOT is_title THEN 'user_message' END]
      WHEN name = 'conversation_starts' THEN [CASE WHEN NOT is_title THEN 'session_start' END]
      WHEN name IN ('tool_result', 'tool_decision')
        THEN ['tool_call', CASE WHEN len(pull_requests_of_tool(attributes['tool_name'], NULL, is_success)) > 0 THEN 'pull_request' END]
    END) AS type
  FROM own
)
SELECT
  source,
  common,
  type,
  CASE type
    WHEN 'model_usage' THEN 'usage:' || other
    WHEN 'user_message' THEN 'turn:' || other
    WHEN 'session_start' THEN 'session_start:' || other
    WHEN 'tool_call' THEN 'tool:' || call
    WHEN 'pull_request' THEN 'pull_request:' || call
  END AS event_id,
  CASE type WHEN 'model_usage' THEN model_or_unknown(attributes['model']) END AS model,
  CASE type WHEN 'model_usage' THEN greatest(all_input - cached - written, 0) END AS input_tokens,
  CASE type WHEN 'model_usage' THEN output END AS output_tokens,
  CASE type WHEN 'model_usage' THEN cached END AS cache_read_tokens,
  CASE type WHEN 'model_usage' THEN written END AS cache_write_tokens,
  CASE
    WHEN type <> 'tool_call' THEN NULL
    WHEN server IS NULL OR prefix(attributes['tool_name'], 'mcp__') THEN attributes['tool_name']
    ELSE 'mcp__' || server || '__' || attributes['tool_name']
  END AS tool_name,
  CASE type WHEN 'tool_call' THEN server END AS mcp_server,
  CASE type WHEN 'tool_call' THEN is_success END AS success,
  CASE WHEN type = 'tool_call' AND is_stopped THEN true END AS is_stopped,
  CASE WHEN type = 'tool_call' AND name = 'tool_result' THEN milliseconds_of(attributes['duration_ms']) END AS duration_ms
FROM event
WHERE type IS NOT NULL
