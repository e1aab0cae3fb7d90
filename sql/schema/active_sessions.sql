-- One row is one session that was active on one day: it had at least one tool call or user turn.
-- Grain: (org_id, day, user_id, session_id).
CREATE OR REPLACE VIEW active_sessions AS
SELECT *
FROM user_sessions
WHERE tool_calls > 0
  OR user_turns > 0
