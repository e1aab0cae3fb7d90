-- One row is one event of the telemetry that Cursor's servers export. docs/cursor.md has the mapping in words.
-- Reads record.
WITH
own AS (
  SELECT
    *,
    coalesce(id_of(attributes['cursor.event.id']), digest) AS id,
    attributes['cursor.tool.status'] AS status,
    tokens_of(attributes['cursor.api.request.input_tokens']) AS input,
    tokens_of(attributes['cursor.api.request.output_tokens']) AS output,
    tokens_of(attributes['cursor.api.request.cache_read_tokens']) AS cache_read,
    tokens_of(attributes['cursor.api.request.cache_creation_tokens']) AS cache_write
  FROM record
),
event AS (
  SELECT
    *,
    unnest(CASE
      WHEN name = 'api_request' THEN [CASE WHEN is_used(input, output, cache_read, cache_write) THEN 'usage' END]
      WHEN prefix(name, 'api_correction_') THEN ['correction']
      WHEN name = 'skill_activated' THEN ['skill']
      WHEN name = 'cloud_agent_pull_request_opened' THEN ['pull_request']
      -- A point has the number of equal calls.
      WHEN name = 'cursor.tool.calls' THEN list_transform(range(least(tokens_of("value"), 1000)), lambda place: 'tool:' || place)
    END) AS kind
  FROM own
)
SELECT
  source,
  common,
  CASE
    WHEN kind IN ('usage', 'correction') THEN 'model_usage'
    WHEN kind = 'skill' THEN 'skill_use'
    WHEN kind = 'pull_request' THEN kind
    ELSE 'tool_call'
  END AS type,
  CASE
    WHEN prefix(kind, 'tool:') THEN 'tool:otlp:' || digest || substr(kind, 5)
    ELSE kind || ':otlp:' || id
  END AS event_id,
  CASE WHEN kind IN ('usage', 'correction') THEN model_or_unknown(name_of(attributes['cursor.model.name'])) END AS model,
  -- Of a request that isn't billed, only its id is told: is_correction.
  CASE kind WHEN 'usage' THEN input WHEN 'correction' THEN 0 END AS input_tokens,
  CASE kind WHEN 'usage' THEN output WHEN 'correction' THEN 0 END AS output_tokens,
  CASE kind WHEN 'usage' THEN cache_read END AS cache_read_tokens,
  CASE kind WHEN 'usage' THEN cache_write END AS cache_write_tokens,
  CASE WHEN kind IN ('usage', 'correction') THEN id_of(attributes['cursor.usage_event.id']) END AS request_id,
  CASE kind WHEN 'skill' THEN name_of(attributes['cursor.skill.name']) END AS skill_name,
  CASE WHEN prefix(kind, 'tool:') THEN name_of(attributes['cursor.tool.name']) END AS tool_name,
  CASE WHEN prefix(kind, 'tool:') AND attributes['cursor.tool.kind'] = 'mcp' THEN coalesce(name_of(attributes['cursor.mcp.server.name']), 'unknown') END AS mcp_server,
  CASE WHEN prefix(kind, 'tool:') AND status IN ('success', 'failure', 'aborted') THEN status = 'success' END AS success,
  CASE WHEN prefix(kind, 'tool:') AND status = 'aborted' THEN true END AS is_stopped
FROM event
WHERE kind IS NOT NULL
