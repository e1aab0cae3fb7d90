-- One row is one model that was used in one way in one part of a session on one day, with its tokens and the standard credits that they cost.
-- Grain: (org_id, day, user_id, session_id, agent, client, repo, model_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit).
-- Looks back: 0 days.
WITH
-- Keys are computed once per spelling of a name, not once per call.
keyed_repo AS (
  SELECT
    repo,
    repo_key(repo) AS repo_key
  FROM (
    SELECT DISTINCT coalesce(repo, '') AS repo
    FROM counted_events
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  ) AS name
),
usage AS MATERIALIZED (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    coalesce(agent, '') AS agent,
    coalesce(client, '') AS client,
    keyed_repo.repo_key AS repo,
    model_id,
    speed,
    service_tier,
    region,
    prompt_class,
    is_reported,
    is_unsplit,
    count(*) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(web_searches) AS web_searches,
    sum(CASE WHEN is_reported = 1 THEN reported_cost_usd ELSE 0 END) AS reported_cost_usd
  FROM model_usage
  JOIN keyed_repo
    ON keyed_repo.repo = coalesce(model_usage.repo, '')
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    session_id,
    coalesce(agent, ''),
    coalesce(client, ''),
    keyed_repo.repo_key,
    model_id,
    speed,
    service_tier,
    region,
    prompt_class,
    is_reported,
    is_unsplit
),
-- The tokens of each part with those of the parts before it by agent, client, repository, session and way.
part_usage AS (
  SELECT
    *,
    sum(input_tokens + output_tokens) OVER so_far AS tokens_so_far,
    sum(cache_write_tokens) OVER so_far AS cache_write_tokens_so_far,
    sum(cache_read_tokens) OVER so_far AS cache_read_tokens_so_far
  FROM usage
  WINDOW so_far AS (
    PARTITION BY org_id, day, user_id, model_id
    ORDER BY agent, client, repo, session_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit
    ROWS UNBOUNDED PRECEDING
  )
),
-- A model has the rates of its name, else of its key, else the default's, whose id is empty. A longer name is another model. Of the dated
-- entries it has the newest that is valid on the day, else the first.
model_day AS MATERIALIZED (
  SELECT DISTINCT
    day,
    model_id
  FROM usage
),
listed AS (
  SELECT
    day,
    model_id,
    model_name(model_id) AS rates_id,
    1 AS place
  FROM model_day
  UNION ALL
  SELECT
    day,
    model_id,
    model_key(model_id) AS rates_id,
    2 AS place
  FROM model_day
  UNION ALL
  SELECT
    day,
    model_id,
    '' AS rates_id,
    3 AS place
  FROM model_day
),
model_rates AS (
  SELECT
    listed.day AS day,
    listed.model_id AS model_id,
    rates.model_id AS rates_id,
    rates.model_tier AS model_tier,
    rates.multiplier AS multiplier,
    rates.cache_read_rate AS cache_read_rate,
    rates.cache_write_rate AS cache_write_rate
  FROM listed
  JOIN rates
    ON rates.model_id = listed.rates_id
  QUALIFY row_number() OVER (
    PARTITION BY listed.day, listed.model_id
    ORDER BY
      listed.place,
      CASE WHEN rates.valid_from <= listed.day THEN rates.valid_from END DESC NULLS LAST,
      rates.valid_from,
      rates.multiplier
  ) = 1
),
priced AS (
  SELECT
    part_usage.*,
    coalesce(model_rates.model_tier, 'standard') AS model_tier,
    CASE WHEN coalesce(model_rates.rates_id, '') = '' THEN 0 ELSE 1 END AS is_on_rate_card,
    credits(
      coalesce(model_rates.multiplier, 1.0),
      part_usage.tokens_so_far,
      coalesce(model_rates.cache_write_rate, 1.0),
      part_usage.cache_write_tokens_so_far,
      coalesce(model_rates.cache_read_rate, 0.1),
      part_usage.cache_read_tokens_so_far
    ) AS credits_so_far
  FROM part_usage
  LEFT JOIN model_rates
    ON model_rates.day = part_usage.day
    AND model_rates.model_id = part_usage.model_id
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(session_id AS VARCHAR) AS session_id,
  CAST(agent AS VARCHAR) AS agent,
  CAST(client AS VARCHAR) AS client,
  CAST(repo AS VARCHAR) AS repo,
  CAST(model_id AS VARCHAR) AS model_id,
  CAST(speed AS VARCHAR) AS speed,
  CAST(service_tier AS VARCHAR) AS service_tier,
  CAST(region AS VARCHAR) AS region,
  CAST(prompt_class AS BIGINT) AS prompt_class,
  CAST(is_reported AS BIGINT) AS is_reported,
  CAST(is_unsplit AS BIGINT) AS is_unsplit,
  CAST(model_tier AS VARCHAR) AS model_tier,
  CAST(is_on_rate_card AS BIGINT) AS is_on_rate_card,
  CAST(calls AS BIGINT) AS calls,
  CAST(input_tokens AS BIGINT) AS input_tokens,
  CAST(output_tokens AS BIGINT) AS output_tokens,
  CAST(cache_read_tokens AS BIGINT) AS cache_read_tokens,
  CAST(cache_write_tokens AS BIGINT) AS cache_write_tokens,
  CAST(cache_write_1h_tokens AS BIGINT) AS cache_write_1h_tokens,
  CAST(web_searches AS BIGINT) AS web_searches,
  CAST(reported_cost_usd AS DECIMAL(18, 9)) AS reported_cost_usd,
  -- Rounded for the user and model, so that every breakdown adds up exactly: a part has what it adds to the parts before it.
  CAST(
    credits_so_far - lag(credits_so_far, 1, CAST(0 AS BIGINT)) OVER (
      PARTITION BY org_id, day, user_id, model_id
      ORDER BY agent, client, repo, session_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit
    ) AS BIGINT
  ) AS billable_tokens
FROM priced
