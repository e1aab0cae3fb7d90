-- One row is one model that one user used with one agent on one day, with the cost of its tokens at the prices of that day, in USD.
-- Grain: (org_id, day, user_id, model_id, agent).
CREATE OR REPLACE VIEW user_costs AS
SELECT
  org_id,
  day,
  user_id,
  model_id,
  agent,  -- '' if the events name none
  calls,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,  -- the part of them that lives an hour
  billable_tokens,  -- standard credits, computed with the rate card: not dollars
  input_usd,        -- null if the price is unknown; likewise the next three
  output_usd,
  cache_read_usd,
  cache_write_usd,
  CASE
    WHEN unpriced_tokens = 0 THEN known_cost_usd
    WHEN unpriced_tokens < input_tokens + output_tokens + cache_read_tokens + cache_write_tokens THEN known_cost_usd
  END AS cost_usd,  -- of the tokens whose price is known; null if there is no price for any of them
  CAST(unpriced_tokens AS BIGINT) AS unpriced_tokens  -- tokens whose price is unknown, which cost_usd leaves out
FROM (
  SELECT
    usage.org_id AS org_id,
    usage.day AS day,
    usage.user_id AS user_id,
    usage.model_id AS model_id,
    usage.agent AS agent,
    usage.calls AS calls,
    usage.input_tokens AS input_tokens,
    usage.output_tokens AS output_tokens,
    usage.cache_read_tokens AS cache_read_tokens,
    usage.cache_write_tokens AS cache_write_tokens,
    usage.cache_write_1h_tokens AS cache_write_1h_tokens,
    usage.billable_tokens AS billable_tokens,
    usd(price_periods.input_price, usage.input_tokens) AS input_usd,
    usd(price_periods.output_price, usage.output_tokens) AS output_usd,
    usd(price_periods.cache_read_price, usage.cache_read_tokens) AS cache_read_usd,
    usd(price_periods.cache_write_price, usage.cache_write_tokens - usage.cache_write_1h_tokens)
      + usd(price_periods.cache_write_1h_price, usage.cache_write_1h_tokens) AS cache_write_usd,
    CASE WHEN price_periods.input_price IS NULL THEN usage.input_tokens ELSE 0 END
      + CASE WHEN price_periods.output_price IS NULL THEN usage.output_tokens ELSE 0 END
      + CASE WHEN price_periods.cache_read_price IS NULL THEN usage.cache_read_tokens ELSE 0 END
      + CASE WHEN price_periods.cache_write_price IS NULL THEN usage.cache_write_tokens - usage.cache_write_1h_tokens ELSE 0 END
      + CASE WHEN price_periods.cache_write_1h_price IS NULL THEN usage.cache_write_1h_tokens ELSE 0 END AS unpriced_tokens,
    known_usd(price_periods.input_price, usage.input_tokens)
      + known_usd(price_periods.output_price, usage.output_tokens)
      + known_usd(price_periods.cache_read_price, usage.cache_read_tokens)
      + known_usd(price_periods.cache_write_price, usage.cache_write_tokens - usage.cache_write_1h_tokens)
      + known_usd(price_periods.cache_write_1h_price, usage.cache_write_1h_tokens) AS known_cost_usd
  FROM (
    SELECT
      *,
      CASE WHEN model_name(model_id) IN (SELECT model_id FROM prices) THEN model_name(model_id) ELSE model_key(model_id) END AS listed_id
    FROM user_models
  ) AS usage
  LEFT JOIN price_periods
    ON price_periods.model_id = usage.listed_id
    AND price_periods.valid_from <= usage.day
    AND price_periods.valid_until > usage.day
) AS priced
