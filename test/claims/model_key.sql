-- Providers put a path before the vendor's name.
model_key('anthropic/claude-opus-4-6') -> 'claude-opus-4-6';
model_key('openrouter/anthropic/claude-sonnet-4.5') -> 'claude-sonnet-4-5';
model_key('vertex_ai/claude-opus-4-6') -> 'claude-opus-4-6';
model_key('azure/gpt-5') -> 'gpt-5';
model_key('models/gemini-2.5-pro') -> 'gemini-2-5-pro';
model_key('google:gemini-3.6-flash') -> 'gemini-3-6-flash';
model_key('arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1') -> 'claude-opus-4-6';
-- Bedrock has regions, vendors and versions.
model_key('us.anthropic.claude-opus-4-6-20260205-v1:0') -> 'claude-opus-4-6';
model_key('global.anthropic.claude-opus-4-5-20251101-v1:0') -> 'claude-opus-4-5';
model_key('anthropic.claude-sonnet-4-20250514-v1:0') -> 'claude-sonnet-4';
model_key('anthropic.claude-3-haiku-20240307-v1:0:200k') -> 'claude-3-haiku';
model_key('us-gov.anthropic.claude-opus-4-6-v1') -> 'claude-opus-4-6';
model_key('bedrock/eu.amazon.nova-pro-v1:0') -> 'nova-pro';
model_key('openai.gpt-oss-120b-1:0') -> 'gpt-oss-120b';
-- Some providers spell dots between digits as hyphens, and the key always does.
model_key('databricks-claude-sonnet-4-5') -> 'claude-sonnet-4-5';
model_key('gpt-5-1-codex') -> 'gpt-5-1-codex';
model_key('gpt-5.1-codex') -> 'gpt-5-1-codex';
model_key('GPT-5.6-Sol') -> 'gpt-5-6-sol';
model_key('gemini-3-6-flash') -> 'gemini-3-6-flash';
-- The vendor's own order of words and punctuation.
model_key('claude-sonnet-4.5') -> 'claude-sonnet-4-5';
model_key('claude-4.5-sonnet') -> 'claude-sonnet-4-5';
model_key('claude-4-sonnet-20250522') -> 'claude-sonnet-4';
model_key('claude-3.7-sonnet') -> 'claude-3-7-sonnet';
model_key('claude-sonnet-3.7') -> 'claude-3-7-sonnet';
model_key('claude-haiku-3-5-20241022') -> 'claude-3-5-haiku';
model_key('claude-opus-3') -> 'claude-3-opus';
model_key('claude-opus-4-0') -> 'claude-opus-4';
-- A window, an alias and a date aren't another model, nor are capitals and white space.
model_key('claude-opus-4-6[1m]') -> 'claude-opus-4-6';
model_key('us.anthropic.claude-opus-4-6-v1[1M]') -> 'claude-opus-4-6';
model_key('claude-3-5-haiku-latest') -> 'claude-3-5-haiku';
model_key('claude-opus-4-6@default') -> 'claude-opus-4-6';
model_key('claude-sonnet-4-5@20250929') -> 'claude-sonnet-4-5';
model_key('claude-sonnet-4-5-20250929[1m]') -> 'claude-sonnet-4-5';
model_key('gpt-5-2025-08-07') -> 'gpt-5';
model_key(' Claude-Opus-4-6 ') -> 'claude-opus-4-6';
model_key('zai-org/GLM-4.6') -> 'glm-4-6';
-- A longer name is another model, as is a number that is part of it, an offer and a size.
model_key('claude-opus-5-5') -> 'claude-opus-5-5';
model_key('claude-opus-4-10') -> 'claude-opus-4-10';
model_key('claude-opus-5-fast') -> 'claude-opus-5-fast';
model_key('gpt-5.1-codex-max') -> 'gpt-5-1-codex-max';
model_key('gpt-4-0613') -> 'gpt-4-0613';
model_key('gpt-4-32k') -> 'gpt-4-32k';
model_key('gemini-2.5-flash-preview-09-2025') -> 'gemini-2-5-flash-preview-09-2025';
model_key('deepseek/deepseek-chat-v3:free') -> 'deepseek-chat-v3:free';
model_key('deepseek-v3') -> 'deepseek-v3';
model_key('qwen3-coder:30b') -> 'qwen3-coder:30b';
model_key('mistral:7b') -> 'mistral:7b';
model_key('ft:gpt-4o-2024-08-06:acme::1') -> 'ft:gpt-4o-2024-08-06:acme::1';
model_key('kimi-k2.5') -> 'kimi-k2-5';
-- The key of a key is the key.
model_key('claude-3-7-sonnet') -> 'claude-3-7-sonnet';
model_key('') -> '';
model_key(CAST(NULL AS VARCHAR)) -> CAST(NULL AS VARCHAR);
