-- One row is one model that one user used on one day, with its tokens and the standard credits that they cost.
-- Grain: (org_id, day, user_id, model_id).
-- Looks back: 0 days.
WITH
usage AS (
  SELECT
    org_id,
    day,
    user_id,
    model_id,
    count(*) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(cache_write_1h_tokens) AS cache_write_1h_tokens
  FROM model_usage
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    model_id
),
-- A model has the rates of the longest listed id that its name begins with: its own id is the longest, the default's empty id the
-- shortest. Of the dated entries it has the newest that is valid on the day, else the first.
model_day AS (
  SELECT DISTINCT
    day,
    model_id
  FROM usage
),
model_rates AS (
  SELECT
    model_day.day AS day,
    model_day.model_id AS model_id,
    rates.model_id AS rates_id,
    rates.model_tier AS model_tier,
    rates.multiplier AS multiplier,
    rates.cache_read_rate AS cache_read_rate,
    rates.cache_write_rate AS cache_write_rate
  FROM model_day
  JOIN rates
    ON left(model_day.model_id, length(rates.model_id)) = rates.model_id
  QUALIFY row_number() OVER (
    PARTITION BY model_day.day, model_day.model_id
    ORDER BY
      length(rates.model_id) DESC,
      CASE WHEN rates.valid_from <= model_day.day THEN rates.valid_from END DESC NULLS LAST,
      rates.valid_from
  ) = 1
)
SELECT
  CAST(usage.org_id AS VARCHAR) AS org_id,
  CAST(usage.day AS DATE) AS day,
  CAST(usage.user_id AS VARCHAR) AS user_id,
  CAST(usage.model_id AS VARCHAR) AS model_id,
  CAST(coalesce(model_rates.model_tier, 'standard') AS VARCHAR) AS model_tier,
  CAST(CASE WHEN coalesce(model_rates.rates_id, '') = '' THEN 0 ELSE 1 END AS BIGINT) AS is_on_rate_card,
  CAST(usage.calls AS BIGINT) AS calls,
  CAST(usage.input_tokens AS BIGINT) AS input_tokens,
  CAST(usage.output_tokens AS BIGINT) AS output_tokens,
  CAST(usage.cache_read_tokens AS BIGINT) AS cache_read_tokens,
  CAST(usage.cache_write_tokens AS BIGINT) AS cache_write_tokens,
  CAST(usage.cache_write_1h_tokens AS BIGINT) AS cache_write_1h_tokens,
  -- Rounded here, at the finest grain, so that every breakdown adds up exactly.
  CAST(credits(
    coalesce(model_rates.multiplier, 1.0),
    usage.input_tokens + usage.output_tokens,
    coalesce(model_rates.cache_write_rate, 1.0),
    usage.cache_write_tokens,
    coalesce(model_rates.cache_read_rate, 0.1),
    usage.cache_read_tokens
  ) AS BIGINT) AS billable_tokens
FROM usage
LEFT JOIN model_rates
  ON model_rates.day = usage.day
  AND model_rates.model_id = usage.model_id
