-- Whether a usage is compared between channels over its whole session: the logs of these agents have totals, of a session or of a turn, and
-- hooks of Cursor the sum of a turn, which can pass midnight.
CREATE OR REPLACE FUNCTION is_session_usage(type, agent) AS
  type = 'model_usage' AND coalesce(agent, '') IN ('copilot-chat', 'copilot-cli', 'cursor', 'droid');
