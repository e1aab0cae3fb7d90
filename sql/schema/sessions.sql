-- One row is one session, with the day of its first event that counts.
-- Grain: (org_id, user_id, session_id).
CREATE OR REPLACE VIEW sessions AS
SELECT
  org_id,
  user_id,
  session_id,
  min(day) AS start_day,
  max(day) AS last_day,
  sum(tool_calls) AS tool_calls,
  sum(user_turns) AS user_turns
FROM user_sessions
WHERE session_id <> ''
GROUP BY ALL
