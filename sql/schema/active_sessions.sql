-- One row is one session that was active on one day: it had at least one tool call or user turn.
-- Grain: (org_id, day, user_id, session_id).
CREATE OR REPLACE VIEW active_sessions AS
SELECT
  org_id,
  day,
  user_id,
  session_id,
  CAST(sum(events) AS BIGINT) AS events,  -- of any type
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(user_turns) AS BIGINT) AS user_turns,
  CAST(sum(assistant_messages) AS BIGINT) AS assistant_messages
FROM user_sessions
WHERE session_id <> ''
GROUP BY
  org_id,
  day,
  user_id,
  session_id
HAVING sum(tool_calls) > 0
  OR sum(user_turns) > 0
