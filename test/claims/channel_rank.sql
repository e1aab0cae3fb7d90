channel_rank('event') -> 1;
channel_rank('log') -> 2;
channel_rank('hook') -> 3;
channel_rank('otlp_log') -> 4;
channel_rank('otlp_span') -> 5;
channel_rank('otlp_metric') -> 6;
channel_rank('vendor_api') -> 7;
-- Events of the first version have no channel.
