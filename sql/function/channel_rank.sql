-- The rank of the channel that an event came by: of channels that report the same, the lowest counts.
CREATE OR REPLACE FUNCTION channel_rank(channel) AS
  CASE
    WHEN channel = 'event' THEN 1
    WHEN channel = 'log' THEN 2
    WHEN channel = 'hook' THEN 3
    WHEN channel = 'otlp_log' THEN 4
    WHEN channel = 'otlp_span' THEN 5
    WHEN channel = 'otlp_metric' THEN 6
    ELSE 7
  END;
