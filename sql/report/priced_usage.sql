-- One row is what the usage of one model in one way with one agent cost one group on one day, at the list prices of that day. A price of NULL is unknown.
-- usage is the file of that name, token_price is token_price.sql.
-- Grain: (day, agent, group_key, model_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit).
SELECT
  model_day.*,
  token_price.input_usd AS input_price,
  token_price.output_usd AS output_price,
  token_price.cache_read_usd AS cache_read_price,
  token_price.cache_write_usd AS cache_write_price,
  token_price.cache_write_1h_usd AS cache_write_1h_price,
  token_price.web_search_usd AS web_search_price,
  coalesce(token_price.web_search_usd, 0) * CAST(model_day.web_searches AS DECIMAL(38, 0)) AS web_search_usd,
  coalesce(token_price.input_usd, 0) * CAST(model_day.input_tokens AS DECIMAL(38, 0)) AS input_usd,
  coalesce(token_price.output_usd, 0) * CAST(model_day.output_tokens AS DECIMAL(38, 0)) AS output_usd,
  coalesce(token_price.cache_read_usd, 0) * CAST(model_day.cache_read_tokens AS DECIMAL(38, 0)) AS cache_read_usd,
  coalesce(token_price.cache_write_usd, 0) * CAST(model_day.cache_write_tokens - model_day.cache_write_1h_tokens AS DECIMAL(38, 0)) AS cache_write_usd,
  coalesce(token_price.cache_write_1h_usd, 0) * CAST(model_day.cache_write_1h_tokens AS DECIMAL(38, 0)) AS cache_write_1h_usd,
  unpriced(token_price.input_usd, model_day.input_tokens)
    + unpriced(token_price.output_usd, model_day.output_tokens)
    + unpriced(token_price.cache_read_usd, model_day.cache_read_tokens)
    + unpriced(token_price.cache_write_usd, model_day.cache_write_tokens - model_day.cache_write_1h_tokens)
    + unpriced(token_price.cache_write_1h_usd, model_day.cache_write_1h_tokens) AS unpriced_tokens,
  -- No price at all is known, but what the calls are said to have cost.
  is_by_report(
    model_day.is_reported,
    token_price.input_usd,
    token_price.output_usd,
    token_price.cache_read_usd,
    token_price.cache_write_usd,
    token_price.cache_write_1h_usd
  ) AS is_by_report
FROM (
  SELECT
    day,
    agent,
    group_key,
    model_id,
    speed,
    service_tier,
    region,
    prompt_class,
    is_reported,
    is_unsplit,
    sum(calls) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(web_searches) AS web_searches,
    sum(reported_cost_usd) AS reported_cost_usd,
    sum(billable_tokens) AS billable_tokens
  FROM usage
  GROUP BY
    day,
    agent,
    group_key,
    model_id,
    speed,
    service_tier,
    region,
    prompt_class,
    is_reported,
    is_unsplit
) AS model_day
LEFT JOIN token_price
  ON token_price.model_id = model_day.model_id
  AND token_price.speed = model_day.speed
  AND token_price.service_tier = model_day.service_tier
  AND token_price.region = model_day.region
  AND token_price.prompt_class = model_day.prompt_class
  AND token_price.is_unsplit = model_day.is_unsplit
  AND token_price.valid_from <= model_day.day
  AND token_price.valid_until > model_day.day
