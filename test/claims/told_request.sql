told_request('model_usage', 'usage:otlp:r1', 'r1') -> 'r1';
told_request('model_usage', 'usage:otlp:r1', NULL) -> NULL;
told_request('assistant_message', 'message:otlp:r1', NULL) -> 'r1';
told_request('assistant_message', 'message:msg_1', NULL) -> NULL;
told_request('user_message', 'message:otlp:r1', NULL) -> NULL;
