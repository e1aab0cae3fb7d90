-- One row is one entry of the price list, with the days on which it is valid. A model in the operator's file has the entries of that file
-- alone.
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
  coalesce(cache_write_1h_price, cache_write_price) AS cache_write_1h_price,  -- of those that live an hour
  step_tokens,        -- tokens of a prompt above which the next prices hold for the whole call; null if its length doesn't matter
  input_price_above,
  output_price_above,
  cache_read_price_above,
  cache_write_price_above,
  coalesce(cache_write_1h_price_above, cache_write_price_above) AS cache_write_1h_price_above,
  web_search_price    -- of a thousand searches
FROM (
  SELECT *
  FROM prices
  -- Ids in the file that are spellings of one model, with an entry of the same day, count once.
  QUALIFY
    (listed_by = 'file') = (max(CASE WHEN listed_by = 'file' THEN 1 ELSE 0 END) OVER (PARTITION BY model_id) = 1)
    AND row_number() OVER (PARTITION BY model_id, listed_by, valid_from ORDER BY input_price, output_price, source) = 1
) AS listed
