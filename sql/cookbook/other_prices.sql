-- What would the same tokens have cost with another model?
--
-- One row is one model of the price list: the cost of all tokens of the range at its price on the last day, also as a multiple of the actual cost.
-- This compares prices, not models: another model would have taken other steps and used other tokens. Models without a price for every kind of token used are left out. The actual cost doesn't include unpriced tokens, but the others do.
-- Grain: (model_id).
WITH
spent AS (
  SELECT
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens - cache_write_1h_tokens) AS cache_write_5m_tokens,
    sum(cache_write_1h_tokens) AS cache_write_1h_tokens,
    CAST(sum(cost_usd) AS DOUBLE) AS cost_usd
  FROM user_costs
  WHERE day BETWEEN $from AND $to
    AND unpriced_tokens = 0
),
offer AS (
  SELECT
    price_periods.model_id AS model_id,
    CAST(
      usd(price_periods.input_price, spent.input_tokens)
      + usd(price_periods.output_price, spent.output_tokens)
      + usd(price_periods.cache_read_price, spent.cache_read_tokens)
      + usd(price_periods.cache_write_price, spent.cache_write_5m_tokens)
      + usd(price_periods.cache_write_1h_price, spent.cache_write_1h_tokens) AS DOUBLE
    ) AS cost_usd,
    spent.cost_usd AS actual_usd
  FROM price_periods
  CROSS JOIN spent
  WHERE price_periods.valid_from <= $to
    AND price_periods.valid_until > $to
)
SELECT
  CAST(model_id AS VARCHAR) AS model_id,
  CAST(round(cost_usd, 2) AS DOUBLE) AS cost_usd,
  CAST(round(actual_usd, 2) AS DOUBLE) AS actual_usd,
  CAST(round(cost_usd / actual_usd, 2) AS DOUBLE) AS times_actual
FROM offer
WHERE cost_usd IS NOT NULL
ORDER BY
  cost_usd,
  model_id
