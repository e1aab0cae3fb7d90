-- The beginning of a key names the publisher, whoever serves the model.
model_publisher(model_key('us.anthropic.claude-sonnet-4-5-20250929-v1:0')) -> 'Anthropic';
model_publisher('gpt-5-5') -> 'OpenAI';
model_publisher('o3-mini') -> 'OpenAI';
model_publisher('gemini-3-pro') -> 'Google';
model_publisher('devstral-2') -> 'Mistral AI';
model_publisher('qwen3-coder') -> 'Alibaba Cloud';
-- A model that nobody has listed, and none at all, are of others.
model_publisher('acme-coder') -> 'Other';
model_publisher('') -> 'Other';
-- The beginning decides, no other part.
model_publisher('my-gpt-5') -> 'Other';
