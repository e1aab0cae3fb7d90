-- One row is one model that one user used with one agent on one day, with its tokens and the standard credits that they cost.
-- Grain: (org_id, day, user_id, model_id, agent).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(model_id AS VARCHAR) AS model_id,
  CAST(agent AS VARCHAR) AS agent,
  CAST(max(model_tier) AS VARCHAR) AS model_tier,
  CAST(max(is_on_rate_card) AS BIGINT) AS is_on_rate_card,
  CAST(sum(calls) AS BIGINT) AS calls,
  CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
  CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
  CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
  CAST(sum(cache_write_1h_tokens) AS BIGINT) AS cache_write_1h_tokens,
  CAST(sum(billable_tokens) AS BIGINT) AS billable_tokens
FROM session_models
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
GROUP BY
  org_id,
  day,
  user_id,
  model_id,
  agent
