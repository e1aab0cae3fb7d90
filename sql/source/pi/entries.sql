-- One row is one line of a session of Pi or OMP that can become an event, with its session and the model that was chosen at the time.
-- Reads lines (source, line_no and the members that members.json lists).
WITH
-- OMP's files begin with a title, Pi's with the session.
session_file AS (
  SELECT
    source,
    arg_min(id, line_no) FILTER (WHERE type = 'session') AS session_id,
    arg_min(cwd, line_no) FILTER (WHERE type = 'session') AS cwd,
    arg_min(parentSession, line_no) FILTER (WHERE type = 'session') AS parent,
    arg_min(rfc3339_ms("timestamp"), line_no) FILTER (WHERE type = 'session') AS started_ms,
    CASE WHEN bool_or(type = 'title') THEN 'omp' ELSE 'pi' END AS agent
  FROM lines
  GROUP BY source
)
SELECT
  {
    'source': lines.source,
    'line_no': lines.line_no,
    -- A fork begins with lines of its parent, which it tells by its path or its id.
    'session_id': CASE
      WHEN rfc3339_ms(lines."timestamp") < session_file.started_ms
        THEN coalesce(nullif(regexp_extract(session_file.parent, '([0-9a-f]{8}-[0-9a-f-]{27})(\.jsonl)?$', 1), ''), session_file.session_id)
      ELSE session_file.session_id
    END,
    'cwd': session_file.cwd,
    'agent': session_file.agent
  } AS line,
  -- The first versions of Pi gave lines no ids, and had no forks.
  coalesce(lines.id, session_file.session_id) AS id,
  rfc3339_ms(lines."timestamp") AS occurred_ms,
  lines.type AS type,
  message.role AS role,
  -- A sub-agent's first prompt is the agent's.
  coalesce(message.attribution, 'user') = 'user' AS is_human,
  message.content AS content,
  coalesce(
    message.model,
    lines.model,
    last_value(coalesce(message.model, lines.modelId, nullif(regexp_extract(lines.model, '/(.+)$', 1), '')) IGNORE NULLS) OVER before
  ) AS model,
  message.responseId AS response_id,
  message.stopReason AS stop_reason,
  CASE WHEN lines.type = 'message' THEN message.usage ELSE lines.usage END AS tokens,
  message.toolCallId AS tool_call_id,
  message.toolName AS tool_name,
  message.isError AS is_error,
  message.durationMs AS duration_ms,
  message.details AS details,
  message.nestedCalls AS nested_calls
FROM lines
JOIN session_file USING (source)
WINDOW before AS (PARTITION BY lines.source ORDER BY lines.line_no ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
