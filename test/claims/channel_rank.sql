channel_rank('event', 'e1') -> 1;
channel_rank('log', 'turn:hook:1') -> 2;
channel_rank('hook', 'tool:t1') -> 3;
channel_rank('otlp_log', 'e1') -> 4;
channel_rank('otlp_span', 'e1') -> 5;
channel_rank('otlp_metric', 'e1') -> 6;
channel_rank('vendor_api', 'e1') -> 7;
-- Events of the first version have no channel.
channel_rank(NULL, 'turn:hook:1') -> 3;
channel_rank(NULL, 'turn:1') -> 2;
