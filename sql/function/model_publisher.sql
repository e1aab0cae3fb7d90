-- Who publishes a model, by the beginning of its key; 'Other' for one that isn't listed.
CREATE OR REPLACE FUNCTION model_publisher(key) AS
  CASE
    WHEN regexp_matches(key, '^claude-') THEN 'Anthropic'
    WHEN regexp_matches(key, '^(?:gpt-|o[0-9]|codex|chatgpt|computer-use)') THEN 'OpenAI'
    WHEN regexp_matches(key, '^(?:gemini|gemma)-') THEN 'Google'
    WHEN regexp_matches(key, '^grok-') THEN 'xAI'
    WHEN regexp_matches(key, '^deepseek-') THEN 'DeepSeek'
    WHEN regexp_matches(key, '^(?:mistral|codestral|devstral|magistral|ministral|pixtral|open-mi)') THEN 'Mistral AI'
    WHEN regexp_matches(key, '^(?:kimi|moonshot)-') THEN 'Moonshot AI'
    WHEN regexp_matches(key, '^glm-') THEN 'Z.ai'
    WHEN regexp_matches(key, '^minimax-') THEN 'MiniMax'
    WHEN regexp_matches(key, '^(?:qwen|qwq)') THEN 'Alibaba Cloud'
    WHEN regexp_matches(key, '^llama') THEN 'Meta'
    WHEN regexp_matches(key, '^command') THEN 'Cohere'
    WHEN regexp_matches(key, '^sonar') THEN 'Perplexity'
    WHEN regexp_matches(key, '^composer-') THEN 'Cursor'
    WHEN regexp_matches(key, '^trinity-') THEN 'Arcee AI'
    ELSE 'Other'
  END;
