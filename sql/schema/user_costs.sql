-- One row is one model that one user used with one agent in one repository on one day, with the cost of its tokens and searches at the prices of
-- that day, in USD.
-- Grain: (org_id, day, user_id, model_id, agent, repo).
CREATE OR REPLACE VIEW user_costs AS
SELECT
  org_id,
  day,
  user_id,
  model_id,
  agent,  -- '' if the events name none; likewise the next
  repo,   -- its key, as in session_parts
  calls,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,  -- the part of them that lives an hour
  billable_tokens,  -- standard credits, computed with the rate card: not dollars
  input_usd,        -- null if the price is unknown; likewise the next three
  output_usd,
  cache_read_usd,
  cache_write_usd,
  web_search_usd,
  reported_usd,     -- the part of cost_usd that is reported, of calls without any known price
  CASE
    WHEN unpriced_tokens = 0 THEN known_cost_usd
    WHEN unpriced_tokens < input_tokens + output_tokens + cache_read_tokens + cache_write_tokens THEN known_cost_usd
  END AS cost_usd,  -- of what has a known price, and what is reported of calls without any; null if nothing is known
  unpriced_tokens  -- tokens whose price is unknown, which cost_usd leaves out
FROM (
  SELECT
    org_id,
    day,
    user_id,
    model_id,
    agent,
    repo,
    CAST(sum(calls) AS BIGINT) AS calls,
    CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
    CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
    CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
    CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
    CAST(sum(cache_write_1h_tokens) AS BIGINT) AS cache_write_1h_tokens,
    CAST(sum(billable_tokens) AS BIGINT) AS billable_tokens,
    CAST(CASE WHEN count(usd(input_price, input_tokens)) = count(*) THEN sum(usd(input_price, input_tokens)) END AS DECIMAL(38, 12)) AS input_usd,
    CAST(CASE WHEN count(usd(output_price, output_tokens)) = count(*) THEN sum(usd(output_price, output_tokens)) END AS DECIMAL(38, 12)) AS output_usd,
    CAST(CASE WHEN count(usd(cache_read_price, cache_read_tokens)) = count(*) THEN sum(usd(cache_read_price, cache_read_tokens)) END AS DECIMAL(38, 12)) AS cache_read_usd,
    CAST(
      CASE
        WHEN count(usd(cache_write_price, cache_write_tokens - cache_write_1h_tokens) + usd(cache_write_1h_price, cache_write_1h_tokens)) = count(*)
          THEN sum(usd(cache_write_price, cache_write_tokens - cache_write_1h_tokens) + usd(cache_write_1h_price, cache_write_1h_tokens))
      END AS DECIMAL(38, 12)
    ) AS cache_write_usd,
    CAST(sum(known_usd(web_search_price, web_searches * 1000)) AS DECIMAL(38, 12)) AS web_search_usd,
    CAST(sum(CASE WHEN is_by_report = 1 THEN reported_cost_usd ELSE 0 END) AS DECIMAL(38, 12)) AS reported_usd,
    CAST(sum(
      known_usd(input_price, input_tokens)
        + known_usd(output_price, output_tokens)
        + known_usd(cache_read_price, cache_read_tokens)
        + known_usd(cache_write_price, cache_write_tokens - cache_write_1h_tokens)
        + known_usd(cache_write_1h_price, cache_write_1h_tokens)
        + known_usd(web_search_price, web_searches * 1000)
        + CASE WHEN is_by_report = 1 THEN CAST(reported_cost_usd AS DECIMAL(38, 12)) ELSE CAST(0 AS DECIMAL(38, 12)) END
    ) AS DECIMAL(38, 12)) AS known_cost_usd,
    CAST(sum(
      CASE
        WHEN is_by_report = 1 THEN 0
        ELSE unpriced(input_price, input_tokens)
          + unpriced(output_price, output_tokens)
          + unpriced(cache_read_price, cache_read_tokens)
          + unpriced(cache_write_price, cache_write_tokens - cache_write_1h_tokens)
          + unpriced(cache_write_1h_price, cache_write_1h_tokens)
      END
    ) AS BIGINT) AS unpriced_tokens
  FROM (
    SELECT
      *,
      is_by_report(is_reported, input_price, output_price, cache_read_price, cache_write_price, cache_write_1h_price) AS is_by_report
    FROM (
      SELECT
        usage.org_id AS org_id,
        usage.day AS day,
        usage.user_id AS user_id,
        usage.model_id AS model_id,
        usage.agent AS agent,
        usage.repo AS repo,
        usage.calls AS calls,
        usage.billable_tokens AS billable_tokens,
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
          way.user_id AS user_id,
          way.model_id AS model_id,
          way.agent AS agent,
          way.repo AS repo,
          way.calls AS calls,
          way.billable_tokens AS billable_tokens,
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
          FROM session_models
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
  GROUP BY
    org_id,
    day,
    user_id,
    model_id,
    agent,
    repo
) AS costed
