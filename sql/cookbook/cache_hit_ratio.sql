-- How much of each model's input comes from the cache, and what do misses cost?
--
-- One row is one model: the share of its input that was read from the cache, and the cost of the rest as uncached input and as cache writes.
-- A miss isn't always waste, because everything is written once before it can be read: look for a low ratio together with long sessions.
-- Grain: (model_id).
SELECT
  CAST(model_id AS VARCHAR) AS model_id,
  CAST(sum(calls) AS BIGINT) AS calls,
  CAST(sum(input_tokens + cache_read_tokens + cache_write_tokens) AS BIGINT) AS input_tokens,
  CAST(round(ratio(sum(cache_read_tokens), sum(input_tokens + cache_read_tokens + cache_write_tokens)), 3) AS DOUBLE) AS cache_hit_ratio,
  CAST(round(CAST(sum(cache_read_usd) AS DOUBLE), 2) AS DOUBLE) AS hits_usd,
  CAST(round(CAST(sum(input_usd + cache_write_usd) AS DOUBLE), 2) AS DOUBLE) AS misses_usd,
  CAST(round(CAST(sum(cost_usd) AS DOUBLE), 2) AS DOUBLE) AS cost_usd,
  CAST(sum(unpriced_tokens) AS BIGINT) AS unpriced_tokens
FROM user_costs
WHERE day BETWEEN $from AND $to
GROUP BY model_id
ORDER BY
  sum(input_tokens + cache_read_tokens + cache_write_tokens) DESC,
  model_id
