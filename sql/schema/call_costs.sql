-- One row is one call of a model, with the cost of its tokens and searches at the prices of its day, in USD.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW call_costs AS
SELECT
  org_id,
  day,
  event_id,
  occurred_at,
  user_id,
  session_id,
  agent,
  repo,  -- its key, as in session_parts
  model_id,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,  -- the part of cache_write_tokens that lives an hour
  web_searches,
  reported_cost_usd,  -- what the agent or provider says that the call cost
  CASE
    WHEN unpriced_tokens = 0 THEN known_cost_usd
    WHEN unpriced_tokens < input_tokens + output_tokens + cache_read_tokens + cache_write_tokens THEN known_cost_usd
  END AS cost_usd,  -- of what has a known price, or what is reported if nothing has; null if neither is known
  CAST(unpriced_tokens AS BIGINT) AS unpriced_tokens  -- tokens whose price is unknown, which cost_usd leaves out
FROM (
  SELECT
    *,
    known_usd(input_price, input_tokens)
      + known_usd(output_price, output_tokens)
      + known_usd(cache_read_price, cache_read_tokens)
      + known_usd(cache_write_price, cache_write_tokens - cache_write_1h_tokens)
      + known_usd(cache_write_1h_price, cache_write_1h_tokens)
      + known_usd(web_search_price, web_searches * 1000)
      + CASE WHEN is_by_report = 1 THEN CAST(reported_cost_usd AS DECIMAL(38, 12)) ELSE CAST(0 AS DECIMAL(38, 12)) END AS known_cost_usd,
    CASE
      WHEN is_by_report = 1 THEN 0
      ELSE unpriced(input_price, input_tokens)
        + unpriced(output_price, output_tokens)
        + unpriced(cache_read_price, cache_read_tokens)
        + unpriced(cache_write_price, cache_write_tokens - cache_write_1h_tokens)
        + unpriced(cache_write_1h_price, cache_write_1h_tokens)
    END AS unpriced_tokens
  FROM (
    SELECT
      *,
      is_by_report(is_reported, input_price, output_price, cache_read_price, cache_write_price, cache_write_1h_price) AS is_by_report
    FROM (
      SELECT
        usage.org_id AS org_id,
        usage.day AS day,
        usage.event_id AS event_id,
        usage.occurred_at AS occurred_at,
        usage.user_id AS user_id,
        usage.session_id AS session_id,
        usage.agent AS agent,
        repo_key(usage.repo) AS repo,
        usage.model_id AS model_id,
        usage.input_tokens AS input_tokens,
        usage.output_tokens AS output_tokens,
        usage.cache_read_tokens AS cache_read_tokens,
        usage.cache_write_tokens AS cache_write_tokens,
        usage.cache_write_1h_tokens AS cache_write_1h_tokens,
        usage.web_searches AS web_searches,
        usage.reported_cost_usd AS reported_cost_usd,
        way_price(price_periods.input_price, price_periods.input_price_above, price_periods.step_tokens, usage.prompt_class, usage.factor) AS input_price,
        way_price(price_periods.output_price, price_periods.output_price_above, price_periods.step_tokens, usage.prompt_class, usage.factor) AS output_price,
        way_price(price_periods.cache_read_price, price_periods.cache_read_price_above, price_periods.step_tokens, usage.prompt_class, usage.factor) AS cache_read_price,
        way_price(price_periods.cache_write_price, price_periods.cache_write_price_above, price_periods.step_tokens, usage.prompt_class, usage.factor) AS cache_write_price,
        way_price(price_periods.cache_write_1h_price, price_periods.cache_write_1h_price_above, price_periods.step_tokens, usage.prompt_class, usage.factor) AS cache_write_1h_price,
        price_periods.web_search_price AS web_search_price,
        usage.is_reported AS is_reported
      FROM (
        SELECT
          way.org_id AS org_id,
          way.day AS day,
          way.event_id AS event_id,
          way.occurred_at AS occurred_at,
          way.user_id AS user_id,
          way.session_id AS session_id,
          way.agent AS agent,
          way.repo AS repo,
          way.model_id AS model_id,
          way.input_tokens AS input_tokens,
          way.output_tokens AS output_tokens,
          way.cache_read_tokens AS cache_read_tokens,
          way.cache_write_tokens AS cache_write_tokens,
          way.cache_write_1h_tokens AS cache_write_1h_tokens,
          way.web_searches AS web_searches,
          way.reported_cost_usd AS reported_cost_usd,
          way.is_reported AS is_reported,
          way.is_unsplit AS is_unsplit,
          way.prompt_class AS prompt_class,
          way.listed_id AS listed_id,
          way_factor(speed_factor.multiplier, tier_factor.multiplier, region_factor.multiplier) AS factor
        FROM (
          SELECT
            *,
            CASE WHEN model_name(model_id) IN (SELECT model_id FROM prices) THEN model_name(model_id) ELSE model_key(model_id) END AS listed_id
          FROM model_usage
        ) AS way
        LEFT JOIN (SELECT * FROM multiplier_periods WHERE kind = 'speed') AS speed_factor
          ON speed_factor.model_id = way.listed_id
          AND speed_factor.value = way.speed
          AND speed_factor.valid_from <= way.day
          AND speed_factor.valid_until > way.day
        LEFT JOIN (SELECT * FROM multiplier_periods WHERE kind = 'service_tier') AS tier_factor
          ON tier_factor.model_id = way.listed_id
          AND tier_factor.value = way.service_tier
          AND tier_factor.valid_from <= way.day
          AND tier_factor.valid_until > way.day
        LEFT JOIN (SELECT * FROM multiplier_periods WHERE kind = 'region') AS region_factor
          ON region_factor.model_id = way.listed_id
          AND region_factor.value = way.region
          AND region_factor.valid_from <= way.day
          AND region_factor.valid_until > way.day
      ) AS usage
      LEFT JOIN price_periods
        ON price_periods.model_id = usage.listed_id
        AND price_periods.valid_from <= usage.day
        AND price_periods.valid_until > usage.day
        AND is_determined(usage.is_unsplit, price_periods.cache_write_price, price_periods.cache_write_1h_price) = 1
    ) AS way_priced
  ) AS priced
) AS costed
