-- Whether a tool call was only announced by a hook: it is still running, was refused, or the agent was ended in it.
CREATE OR REPLACE FUNCTION is_announced_call(type, channel, success) AS
  type = 'tool_call' AND channel = 'hook' AND success IS NULL;
