message_key('model_usage', 'claude-code', 'usage:msg_1:req_1', 'req_1') -> 'usage:msg_1:';
message_key('model_usage', 'claude-code', 'usage:msg_1:req_1', NULL) -> 'usage:msg_1:';
message_key('model_usage', 'claude-code', 'usage:msg_1:', 'req_1') -> 'usage:msg_1:';
message_key('model_usage', 'claude-code', 'usage:msg_1:', NULL) -> 'usage:msg_1:';
message_key('model_usage', 'codex', 'usage:thread:', NULL) -> NULL;
message_key('model_usage', NULL, 'usage:msg_1:', NULL) -> NULL;
message_key('tool_call', 'claude-code', 'usage:msg_1:', NULL) -> NULL;
message_key('model_usage', 'claude-code', 'e1', NULL) -> NULL;
