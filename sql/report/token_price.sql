-- One row is what one token of a model costs in USD in one way on some days, and one web search. It has the models and ways that the
-- organization used on the days that are asked for. NULL is unknown.
-- Grain: (model_id, speed, service_tier, region, prompt_class, valid_from).
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
      prompt_class
    FROM session_models
    WHERE org_id = $org_id
      AND day BETWEEN $earliest AND $to
  ) AS way
),
way_factors AS (
  SELECT
    used_way.model_id AS model_id,
    used_way.speed AS speed,
    used_way.service_tier AS service_tier,
    used_way.region AS region,
    used_way.prompt_class AS prompt_class,
    multiplier_periods.kind AS kind,
    multiplier_periods.valid_from AS valid_from,
    multiplier_periods.valid_until AS valid_until,
    multiplier_periods.multiplier AS multiplier
  FROM used_way
  JOIN multiplier_periods
    ON multiplier_periods.model_id = used_way.listed_id
  WHERE multiplier_periods.value = CASE multiplier_periods.kind WHEN 'speed' THEN used_way.speed WHEN 'service_tier' THEN used_way.service_tier ELSE used_way.region END
),
-- The days on which a price of a way changes.
way_change AS (
  SELECT
    used_way.model_id AS model_id,
    used_way.speed AS speed,
    used_way.service_tier AS service_tier,
    used_way.region AS region,
    used_way.prompt_class AS prompt_class,
    used_way.listed_id AS listed_id,
    price_periods.valid_from AS valid_from
  FROM used_way
  JOIN price_periods
    ON price_periods.model_id = used_way.listed_id
  UNION
  SELECT
    used_way.model_id AS model_id,
    used_way.speed AS speed,
    used_way.service_tier AS service_tier,
    used_way.region AS region,
    used_way.prompt_class AS prompt_class,
    used_way.listed_id AS listed_id,
    way_factors.valid_from AS valid_from
  FROM used_way
  JOIN way_factors
    USING (model_id, speed, service_tier, region, prompt_class)
),
way_period AS (
  SELECT
    *,
    lead(valid_from, 1, DATE '2100-01-01') OVER (PARTITION BY model_id, speed, service_tier, region, prompt_class ORDER BY valid_from) AS valid_until
  FROM way_change
),
factor AS (
  SELECT
    way_period.model_id AS model_id,
    way_period.speed AS speed,
    way_period.service_tier AS service_tier,
    way_period.region AS region,
    way_period.prompt_class AS prompt_class,
    way_period.valid_from AS valid_from,
    way_factor(
      max(CASE WHEN way_factors.kind = 'speed' THEN way_factors.multiplier END),
      max(CASE WHEN way_factors.kind = 'service_tier' THEN way_factors.multiplier END),
      max(CASE WHEN way_factors.kind = 'region' THEN way_factors.multiplier END)
    ) AS factor
  FROM way_period
  LEFT JOIN way_factors
    ON way_factors.model_id = way_period.model_id
    AND way_factors.speed = way_period.speed
    AND way_factors.service_tier = way_period.service_tier
    AND way_factors.region = way_period.region
    AND way_factors.prompt_class = way_period.prompt_class
    AND way_factors.valid_from <= way_period.valid_from
    AND way_factors.valid_until > way_period.valid_from
  GROUP BY
    way_period.model_id,
    way_period.speed,
    way_period.service_tier,
    way_period.region,
    way_period.prompt_class,
    way_period.valid_from
)
SELECT
  way_period.model_id AS model_id,
  way_period.speed AS speed,
  way_period.service_tier AS service_tier,
  way_period.region AS region,
  way_period.prompt_class AS prompt_class,
  way_period.valid_from AS valid_from,
  way_period.valid_until AS valid_until,
  usd(way_price(price_periods.input_price, price_periods.input_price_above, price_periods.step_tokens, way_period.prompt_class, factor.factor), 1) AS input_usd,
  usd(way_price(price_periods.output_price, price_periods.output_price_above, price_periods.step_tokens, way_period.prompt_class, factor.factor), 1) AS output_usd,
  usd(way_price(price_periods.cache_read_price, price_periods.cache_read_price_above, price_periods.step_tokens, way_period.prompt_class, factor.factor), 1) AS cache_read_usd,
  usd(way_price(price_periods.cache_write_price, price_periods.cache_write_price_above, price_periods.step_tokens, way_period.prompt_class, factor.factor), 1) AS cache_write_usd,
  usd(way_price(price_periods.cache_write_1h_price, price_periods.cache_write_1h_price_above, price_periods.step_tokens, way_period.prompt_class, factor.factor), 1) AS cache_write_1h_usd,
  -- The price of a thousand.
  usd(price_periods.web_search_price, 1000) AS web_search_usd
FROM way_period
JOIN factor
  USING (model_id, speed, service_tier, region, prompt_class, valid_from)
JOIN price_periods
  ON price_periods.model_id = way_period.listed_id
  AND price_periods.valid_from <= way_period.valid_from
  AND price_periods.valid_until > way_period.valid_from
