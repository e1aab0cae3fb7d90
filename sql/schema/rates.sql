-- One row is one dated entry of the rate card. The default has model_id ''.
-- Grain: (model_id, valid_from).
CREATE TABLE rates (
  model_id          VARCHAR NOT NULL,
  model_tier        VARCHAR NOT NULL,  -- standard, thinking
  valid_from        DATE NOT NULL,
  multiplier        DOUBLE NOT NULL,   -- standard credits per token
  cache_read_rate   DOUBLE NOT NULL,   -- price of a token read from the cache, in input tokens
  cache_write_rate  DOUBLE NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (model_id, valid_from)
