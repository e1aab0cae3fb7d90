-- One row is what one token of a model costs in USD in one way on some days, and one web search. It has the models and ways that the
-- organization used on the days that are asked for. NULL is unknown. A way whose cost the prices don't determine
-- has no row.
-- Grain: (model_id, speed, service_tier, region, prompt_class, is_unsplit, valid_from).
WITH
used_way AS (
  SELECT
    *,
    CASE WHEN model_name(model_id) IN (SELECT model_id FROM prices) THEN model_name(model_id) ELSE model_key(model_id) END AS listed_id
  FROM (
    SELECT DISTINCT
      model_id,
      speed,
      service_tier,
      region,
      prompt_class,
      is_unsplit
    FROM session_models
    WHERE org_id = $org_id
      AND day BETWEEN $earliest AND $to
  ) AS way
),
-- The days on which a price or a factor of its model changes.
way_change AS (
  SELECT
    used_way.model_id AS model_id,
    used_way.speed AS speed,
    used_way.service_tier AS service_tier,
    used_way.region AS region,
    used_way.prompt_class AS prompt_class,
    used_way.is_unsplit AS is_unsplit,
    used_way.listed_id AS listed_id,
    change.valid_from AS valid_from
  FROM used_way
  JOIN (
    SELECT model_id, valid_from FROM price_periods
    UNION
    SELECT model_id, valid_from FROM multiplier_periods
  ) AS change
    ON change.model_id = used_way.listed_id
),
way_period AS (
  SELECT
    way_change.model_id AS model_id,
    way_change.speed AS speed,
    way_change.service_tier AS service_tier,
    way_change.region AS region,
    way_change.prompt_class AS prompt_class,
    way_change.is_unsplit AS is_unsplit,
    way_change.listed_id AS listed_id,
    way_change.valid_from AS valid_from,
    lead(way_change.valid_from, 1, DATE '2100-01-01') OVER (
      PARTITION BY way_change.model_id, way_change.speed, way_change.service_tier, way_change.region, way_change.prompt_class, way_change.is_unsplit
      ORDER BY way_change.valid_from
    ) AS valid_until,
    way_factor(speed_factor.multiplier, tier_factor.multiplier, region_factor.multiplier) AS factor
  FROM way_change
  LEFT JOIN (SELECT * FROM multiplier_periods WHERE kind = 'speed') AS speed_factor
    ON speed_factor.model_id = way_change.listed_id
    AND speed_factor.value = way_change.speed
    AND speed_factor.valid_from <= way_change.valid_from
    AND speed_factor.valid_until > way_change.valid_from
  LEFT JOIN (SELECT * FROM multiplier_periods WHERE kind = 'service_tier') AS tier_factor
    ON tier_factor.model_id = way_change.listed_id
    AND tier_factor.value = way_change.service_tier
    AND tier_factor.valid_from <= way_change.valid_from
    AND tier_factor.valid_until > way_change.valid_from
  LEFT JOIN (SELECT * FROM multiplier_periods WHERE kind = 'region') AS region_factor
    ON region_factor.model_id = way_change.listed_id
    AND region_factor.value = way_change.region
    AND region_factor.valid_from <= way_change.valid_from
    AND region_factor.valid_until > way_change.valid_from
)
SELECT
  way_period.model_id AS model_id,
  way_period.speed AS speed,
  way_period.service_tier AS service_tier,
  way_period.region AS region,
  way_period.prompt_class AS prompt_class,
  way_period.is_unsplit AS is_unsplit,
  way_period.valid_from AS valid_from,
  way_period.valid_until AS valid_until,
  usd(way_price(price_periods.input_price, price_periods.input_price_above, price_periods.step_tokens, way_period.prompt_class, way_period.factor), 1) AS input_usd,
  usd(way_price(price_periods.output_price, price_periods.output_price_above, price_periods.step_tokens, way_period.prompt_class, way_period.factor), 1) AS output_usd,
  usd(way_price(price_periods.cache_read_price, price_periods.cache_read_price_above, price_periods.step_tokens, way_period.prompt_class, way_period.factor), 1) AS cache_read_usd,
  usd(way_price(price_periods.cache_write_price, price_periods.cache_write_price_above, price_periods.step_tokens, way_period.prompt_class, way_period.factor), 1) AS cache_write_usd,
  usd(way_price(price_periods.cache_write_1h_price, price_periods.cache_write_1h_price_above, price_periods.step_tokens, way_period.prompt_class, way_period.factor), 1) AS cache_write_1h_usd,
  -- The price of a thousand.
  usd(price_periods.web_search_price, 1000) AS web_search_usd
FROM way_period
JOIN price_periods
  ON price_periods.model_id = way_period.listed_id
  AND price_periods.valid_from <= way_period.valid_from
  AND price_periods.valid_until > way_period.valid_from
  AND is_determined(way_period.is_unsplit, price_periods.cache_write_price, price_periods.cache_write_1h_price) = 1
