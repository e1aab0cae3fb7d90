-- One row is one entry of the price list, with the days on which it is valid.
-- Grain: (model_id, valid_from).
CREATE OR REPLACE VIEW price_periods AS
SELECT
  model_id,
  valid_from,
  lead(valid_from, 1, DATE '2100-01-01') OVER (PARTITION BY model_id ORDER BY valid_from) AS valid_until,  -- the first day on which it is no longer valid; 2100-01-01 for the newest entry
  input_price,
  output_price,
  cache_read_price,
  cache_write_price,  -- of tokens that live 5 minutes, or as long as there is one price for all
  coalesce(cache_write_1h_price, cache_write_price) AS cache_write_1h_price  -- of those that live an hour
FROM prices
