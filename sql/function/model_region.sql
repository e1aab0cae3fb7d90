-- The region to which the name of a model confines its calls, as Bedrock's `us.anthropic.claude-opus-4-6-v1` does; empty if to none.
CREATE OR REPLACE FUNCTION model_region(name) AS
  coalesce(regexp_extract(lower_case(stripped(name)), '(?:^|/)(us-gov|us|eu|apac|ap|au|jp|ca|sa|me|af)\.(?:anthropic|openai|amazon|meta|mistral|cohere|ai21|deepseek|qwen|moonshot|moonshotai|minimax|zai|google|nvidia|writer)\.', 1), '');
