-- The date stays, in one spelling: a vendor may ask another price for a model of another date.
model_name('openai/gpt-4o-2024-05-13') -> 'gpt-4o-2024-05-13';
model_name('claude-sonnet-4-5@20250929') -> 'claude-sonnet-4-5-20250929';
model_name('us.anthropic.claude-opus-4-6-20260205-v1:0') -> 'claude-opus-4-6-20260205';
model_name('claude-4.5-sonnet-20250929[1m]') -> 'claude-sonnet-4-5-20250929';
-- All else is as the key has it.
model_name('anthropic/claude-sonnet-4.5') -> 'claude-sonnet-4-5';
model_name('') -> '';
model_name(CAST(NULL AS VARCHAR)) -> CAST(NULL AS VARCHAR);
