-- The rank of an event of a tool among those with its id on other days: the lowest counts. The end of a call comes before its announcement.
CREATE OR REPLACE FUNCTION tool_rank(type, channel, success) AS
  channel_rank(channel) + CASE WHEN is_announced_call(type, channel, success) THEN 0.5 ELSE 0 END;
