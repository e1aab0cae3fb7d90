-- One row is one dated entry of a price list: what a million tokens of a model cost from that day on, in USD. price_periods has those that
-- count.
-- Grain: (model_id, valid_from, listed_by).
CREATE TABLE prices (
  model_id           VARCHAR NOT NULL,  -- its key, or its name with a date at the end
  valid_from         DATE NOT NULL,     -- 2000-01-01 where nobody knows when it began
  input_price        DECIMAL(12, 6),    -- USD per million tokens; null where it isn't known, as the others
  output_price       DECIMAL(12, 6),
  cache_read_price   DECIMAL(12, 6),
  cache_write_price  DECIMAL(12, 6),
  source             VARCHAR NOT NULL,  -- the page that says so
  cache_write_1h_price  DECIMAL(12, 6)  -- of tokens written to the cache that live an hour; null where they cost as the others
)
--clickhouse ENGINE = MergeTree ORDER BY (model_id, valid_from)
