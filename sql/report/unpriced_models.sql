-- One row is one model with tokens on built days whose price the price list doesn't know. All organizations.
-- Grain: (model_id).
SELECT
  CAST(model_id AS VARCHAR) AS model_id,
  CAST(min(CASE WHEN unpriced_tokens > 0 THEN day END) AS DATE) AS first_day,
  CAST(max(CASE WHEN unpriced_tokens > 0 THEN day END) AS DATE) AS last_day,
  CAST(sum(unpriced_tokens) AS BIGINT) AS unpriced_tokens,
  -- The share of all tokens of all models.
  CAST(ratio(sum(unpriced_tokens), sum(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)) OVER ()) AS DOUBLE) AS ratio,
  CAST(
    CASE
      WHEN model_name(model_id) IN (SELECT model_id FROM prices) OR model_key(model_id) IN (SELECT model_id FROM prices)
        THEN 'listed, but not for all of these days and kinds of token'
      ELSE 'not listed'
    END AS VARCHAR
  ) AS reason
FROM user_costs
GROUP BY model_id
QUALIFY sum(unpriced_tokens) > 0
ORDER BY
  sum(unpriced_tokens) DESC,
  model_id
