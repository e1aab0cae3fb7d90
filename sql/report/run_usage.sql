-- One row is one model of an agent, and what it used in all days of the store, at list prices. The last row is all of them.
-- Grain: (is_total, agent, model_id).
SELECT
  CAST(grouping(agent) AS INTEGER) AS is_total,  -- 1 for all of them; otherwise 0
  CAST(agent AS VARCHAR) AS agent,
  CAST(model_id AS VARCHAR) AS model_id,
  CAST(coalesce(sum(input_tokens), 0) AS BIGINT) AS input_tokens,
  CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output_tokens,
  CAST(coalesce(sum(cache_read_tokens), 0) AS BIGINT) AS cache_read_tokens,
  CAST(coalesce(sum(cache_write_tokens), 0) AS BIGINT) AS cache_write_tokens,
  CAST(sum(cost_usd) AS DOUBLE) AS cost_usd,  -- of the tokens with a known price; null if none has one
  CAST(coalesce(sum(unpriced_tokens), 0) AS BIGINT) AS unpriced_tokens,
  CAST(count(DISTINCT session_id) AS BIGINT) AS sessions  -- with a call of the model
FROM call_costs
GROUP BY GROUPING SETS ((agent, model_id), ())
ORDER BY
  is_total,
  cost_usd DESC NULLS LAST,
  agent,
  model_id
