model_region('us.anthropic.claude-opus-4-6-v1') -> 'us';
model_region('eu.anthropic.claude-sonnet-4-5-20250929-v1:0') -> 'eu';
model_region('bedrock/US-GOV.anthropic.claude-sonnet-4-5-20250929-v1:0') -> 'us-gov';
model_region('arn:aws:bedrock:us-east-1:123456789012:inference-profile/jp.anthropic.claude-opus-4-6-v1') -> 'jp';
-- Calls that may be answered anywhere.
model_region('global.anthropic.claude-opus-4-6-v1') -> '';
model_region('anthropic.claude-opus-4-6-v1') -> '';
model_region('claude-opus-4-6') -> '';
-- A name that only begins in the same way.
model_region('eu.acme-model') -> '';
model_region('') -> '';
model_region(CAST(NULL AS VARCHAR)) -> '';
