-- One row is one agent in one session of one user on one day.
-- Grain: (org_id, day, user_id, session_id, agent).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(session_id AS VARCHAR) AS session_id,
  CAST(coalesce(agent, '') AS VARCHAR) AS agent,
  CAST(count(*) AS BIGINT) AS events,
  CAST(count(*) FILTER (WHERE type = 'tool_call' AND is_tool_name(tool_name)) AS BIGINT) AS tool_calls,
  CAST(count(*) FILTER (WHERE type = 'user_message') AS BIGINT) AS user_turns,
  CAST(count(*) FILTER (WHERE type = 'assistant_message') AS BIGINT) AS assistant_messages
FROM counted_events
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
GROUP BY
  org_id,
  day,
  user_id,
  session_id,
  coalesce(agent, '')
