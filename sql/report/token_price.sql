-- One row is what one token of a model costs in USD on some days. It has the models that the organization used on the days that are asked
-- for. NULL is unknown.
-- Grain: (model_id, valid_from).
SELECT
  used_model.model_id AS model_id,
  price_periods.valid_from AS valid_from,
  price_periods.valid_until AS valid_until,
  usd(price_periods.input_price, 1) AS input_usd,
  usd(price_periods.output_price, 1) AS output_usd,
  usd(price_periods.cache_read_price, 1) AS cache_read_usd,
  usd(price_periods.cache_write_price, 1) AS cache_write_usd,
  usd(price_periods.cache_write_1h_price, 1) AS cache_write_1h_usd
FROM (
  SELECT
    model_id,
    CASE WHEN model_name(model_id) IN (SELECT model_id FROM prices) THEN model_name(model_id) ELSE model_key(model_id) END AS listed_id
  FROM (
    SELECT DISTINCT model_id
    FROM session_models
    WHERE org_id = $org_id
      AND day BETWEEN $earliest AND $to
  ) AS model
) AS used_model
JOIN price_periods
  ON price_periods.model_id = used_model.listed_id
