-- One row is one line of a session of Pi, OMP or OpenClaw that can become an event, with its session and the model that was chosen at the time.
-- Reads lines (source, line_no and the members that members.json lists). Lines of OpenClaw's database, of all its sessions, name their session.
SELECT
  {
    'source': source,
    'line_no': line_no,
    'file': concat_ws(':', source, sessionId),
    -- A fork begins with lines of its parent, which it tells by its path or its id.
    'session_id': CASE
      WHEN rfc3339_ms("timestamp") < started_ms
        THEN coalesce(nullif(regexp_extract(parent, '([0-9a-f]{8}-[0-9a-f-]{27})(\.jsonl)?$', 1), ''), session_id)
      ELSE session_id
    END,
    'cwd': session_cwd,
    'agent': agent
  } AS line,
  -- The first versions of Pi gave lines no ids, and had no forks.
  coalesce(id, session_id) AS id,
  rfc3339_ms("timestamp") AS occurred_ms,
  type AS type,
  runId AS run_id,
  parentToolCallId AS parent_tool_call_id,
  message.role AS role,
  -- A sub-agent's first prompt is the agent's.
  coalesce(message.attribution, 'user') = 'user' AS is_human,
  message.content AS content,
  coalesce(
    message.model,
    model,
    last_value(coalesce(message.model, modelId, nullif(regexp_extract(model, '/(.+)$', 1), '')) IGNORE NULLS) OVER before
  ) AS model,
  message.responseId AS response_id,
  message.stopReason AS stop_reason,
  CASE WHEN type = 'message' THEN message.usage ELSE usage END AS tokens,
  message.toolCallId AS tool_call_id,
  message.toolName AS tool_name,
  message.isError AS is_error,
  message.durationMs AS duration_ms,
  message.details AS details,
  message.nestedCalls AS nested_calls
FROM (
  SELECT
    *,
    -- OMP's files begin with a title, Pi's with the session.
    arg_min(id, line_no) FILTER (WHERE type = 'session') OVER file AS session_id,
    arg_min(cwd, line_no) FILTER (WHERE type = 'session') OVER file AS session_cwd,
    arg_min(parentSession, line_no) FILTER (WHERE type = 'session') OVER file AS parent,
    arg_min(rfc3339_ms("timestamp"), line_no) FILTER (WHERE type = 'session') OVER file AS started_ms,
    CASE
      WHEN sessionId IS NOT NULL THEN 'openclaw'
      WHEN bool_or(type = 'title') OVER file THEN 'omp'
      ELSE 'pi'
    END AS agent
  FROM lines
  WINDOW file AS (PARTITION BY source, sessionId)
)
WINDOW before AS (PARTITION BY source, sessionId ORDER BY line_no ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
