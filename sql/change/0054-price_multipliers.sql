-- One row is one factor of the prices of a model, for calls of one speed, service tier or region, from a day on.
-- Grain: (model_id, kind, value, valid_from, listed_by).
CREATE TABLE price_multipliers (
  model_id    VARCHAR NOT NULL,
  kind        VARCHAR NOT NULL,         -- speed, service_tier or region
  value       VARCHAR NOT NULL,         -- fast, priority, us, ...
  valid_from  DATE NOT NULL,
  multiplier  DECIMAL(12, 6) NOT NULL,
  source      VARCHAR NOT NULL,         -- the page that says so
  listed_by   VARCHAR NOT NULL          -- daybook or file, which counts alone
)
--clickhouse ENGINE = MergeTree ORDER BY (model_id, kind, value, valid_from)
