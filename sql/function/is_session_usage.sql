-- Whether a usage is compared between channels over its whole session: the logs of these agents can have one total for it.
CREATE OR REPLACE FUNCTION is_session_usage(type, agent) AS
  type = 'model_usage' AND coalesce(agent, '') IN ('copilot-cli', 'droid');
