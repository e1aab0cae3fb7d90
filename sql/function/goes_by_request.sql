-- Whether only the same request makes a usage give way. All channels of these agents name requests, so a call that only one
-- channel reports counts as well.
CREATE OR REPLACE FUNCTION goes_by_request(type, agent, request_id) AS
  type = 'model_usage' AND coalesce(agent, '') IN ('claude-code', 'copilot-cli', 'qwen-code') AND request_id IS NOT NULL;
