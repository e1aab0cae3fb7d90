is_correction('model_usage', 'correction:otlp:e1') -> 1 = 1;
is_correction('model_usage', 'usage:otlp:e1') -> 1 = 0;
is_correction('tool_call', 'correction:otlp:e1') -> 1 = 0;
