-- One row is one span of an operation, in the columns that gen_ai.sql of sql/source/otlp reads.
-- Reads spans.
SELECT
  source,
  trace_id || ':' || span_id AS span,
  span_id AS digest,
  attributes['gen_ai.operation.name'] AS name,
  -- A run within another span is a sub-agent's. It is written before that span, which ends later.
  parent_id IS NULL AS is_root,
  map_concat(
    attributes,
    CASE WHEN attributes['error.type'] IS NOT NULL THEN MAP {'error.type/is_set': 'true'} ELSE MAP {} END
  ) AS attributes,
  CAST((ended_ns - started_ns) // 1000000 AS BIGINT) AS took_ms,
  {
    'line_no': line_no,
    'occurred_ms': CAST(ended_ns // 1000000 AS BIGINT),
    'session_id': nullif(attributes['gen_ai.conversation.id'], ''),
    'agent': 'vs-copilot',
    'agent_version': attributes['service.version'],
    'client': 'visual-studio',
    'channel': 'log'
  } AS common
FROM spans
WHERE attributes['gen_ai.operation.name'] IN ('chat', 'generate_content', 'text_completion', 'execute_tool', 'invoke_agent')
