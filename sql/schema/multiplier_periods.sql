-- One row is one factor of the prices of a model, for calls of one speed, service tier or region, with the days on which it is valid. A model
-- in the operator's file has the factors of that file alone.
-- Grain: (model_id, kind, value, valid_from).
CREATE OR REPLACE VIEW multiplier_periods AS
SELECT
  model_id,
  kind,   -- speed, service_tier or region
  value,  -- fast, priority, us, ...
  valid_from,
  lead(valid_from, 1, DATE '2100-01-01') OVER (PARTITION BY model_id, kind, value ORDER BY valid_from) AS valid_until,  -- the first day on which it is no longer valid; 2100-01-01 for the newest
  multiplier
FROM price_multipliers
WHERE listed_by = 'file'
  OR model_id NOT IN (SELECT model_id FROM prices WHERE listed_by = 'file' UNION SELECT model_id FROM price_multipliers WHERE listed_by = 'file')
