-- One row is one span in a file of traces: an export request of OTLP a line, as JSON.
-- Reads lines (source, line_no and the members that members.json lists).
SELECT
  source,
  line_no,
  lower(span.traceId) AS trace_id,
  lower(span.spanId) AS span_id,
  lower(nullif(span.parentSpanId, '')) AS parent_id,
  try_cast(span.startTimeUnixNano AS HUGEINT) AS started_ns,
  try_cast(span.endTimeUnixNano AS HUGEINT) AS ended_ns,
  -- Of several values of a name the first one counts.
  map_from_entries(list_transform(
    list_filter(
      span_attributes,
      lambda attribute, place: list_position(list_transform(span_attributes, lambda one: one.key), attribute.key) = place
    ),
    lambda attribute: {
      'k': attribute.key,
      'v': coalesce(attribute.value.stringValue, attribute.value.intValue, attribute.value.boolValue, attribute.value.doubleValue)
    }
  )) AS attributes
FROM (
  SELECT
    source,
    line_no,
    span,
    list_filter(
      list_concat(coalesce(span.attributes, []), coalesce(resource_attributes, [])),
      lambda attribute: attribute.key IS NOT NULL
    ) AS span_attributes
  FROM (
    SELECT
      source,
      line_no,
      resource_attributes,
      unnest(flatten(list_transform(scopes, lambda scope: coalesce(scope.spans, [])))) AS span
    FROM (
      SELECT
        source,
        line_no,
        unnest(resourceSpans).resource.attributes AS resource_attributes,
        unnest(resourceSpans).scopeSpans AS scopes
      FROM lines
    )
  )
)
