-- One row is what one kind of tokens of one model in one way, used with one agent, cost one group on one built day. It is a row of the export of
-- costs in the form of FOCUS 1.2.
--
-- Filters and groups are those of costs. The rows of a day add up to its row there: list_usd to cost_usd, contracted_cost to contracted_cost, and
-- the tokens of rows without a price to unpriced_tokens. Calls without any known price that tell what they cost are one row of all their tokens.
-- Before the first terms of the organization, costs are list prices in USD.
--
-- priced_usage is priced_usage.sql, and cost_terms has what a dollar of the list price costs the organization on some days. It is for those who may
-- see people by name, so no few people are joined, and no day is quiet.
-- Grain: (day, agent, group_key, model_id, speed, service_tier, region, prompt_class, kind, list_usd_per_unit).
WITH
charge AS (
  SELECT
    priced_usage.day AS day,
    priced_usage.agent AS agent,
    priced_usage.group_key AS group_key,
    priced_usage.model_id AS model_id,
    priced_usage.speed AS speed,
    priced_usage.service_tier AS service_tier,
    priced_usage.region AS region,
    priced_usage.prompt_class AS prompt_class,
    kind.name AS kind,
    kind.place AS kind_place,
    CASE kind.name
      WHEN 'input' THEN priced_usage.input_price
      WHEN 'output' THEN priced_usage.output_price
      WHEN 'cache_read' THEN priced_usage.cache_read_price
      WHEN 'cache_write' THEN priced_usage.cache_write_price
      WHEN 'cache_write_1h' THEN priced_usage.cache_write_1h_price
      WHEN 'web_search' THEN priced_usage.web_search_price
    END AS usd_each,
    CASE kind.name
      WHEN 'input' THEN priced_usage.input_tokens
      WHEN 'output' THEN priced_usage.output_tokens
      WHEN 'cache_read' THEN priced_usage.cache_read_tokens
      WHEN 'cache_write' THEN priced_usage.cache_write_tokens - priced_usage.cache_write_1h_tokens
      WHEN 'cache_write_1h' THEN priced_usage.cache_write_1h_tokens
      WHEN 'web_search' THEN priced_usage.web_searches
      ELSE priced_usage.input_tokens + priced_usage.output_tokens + priced_usage.cache_read_tokens + priced_usage.cache_write_tokens
    END AS quantity,
    CASE kind.name
      WHEN 'input' THEN priced_usage.input_usd
      WHEN 'output' THEN priced_usage.output_usd
      WHEN 'cache_read' THEN priced_usage.cache_read_usd
      WHEN 'cache_write' THEN priced_usage.cache_write_usd
      WHEN 'cache_write_1h' THEN priced_usage.cache_write_1h_usd
      WHEN 'web_search' THEN priced_usage.web_search_usd
      ELSE CAST(priced_usage.reported_cost_usd AS DECIMAL(38, 12))
    END AS usd
  FROM priced_usage
  CROSS JOIN (
    SELECT 'input' AS name, 1 AS place
    UNION ALL SELECT 'output' AS name, 2 AS place
    UNION ALL SELECT 'cache_read' AS name, 3 AS place
    UNION ALL SELECT 'cache_write' AS name, 4 AS place
    UNION ALL SELECT 'cache_write_1h' AS name, 5 AS place
    UNION ALL SELECT 'web_search' AS name, 6 AS place
    UNION ALL SELECT 'reported' AS name, 7 AS place
  ) AS kind
  WHERE priced_usage.day BETWEEN $from AND $to
    AND CASE
      WHEN kind.name = 'reported' THEN priced_usage.is_by_report = 1
      -- What is reported includes searches that have no price.
      WHEN kind.name = 'web_search' THEN priced_usage.is_by_report = 0 OR priced_usage.web_search_price IS NOT NULL
      ELSE priced_usage.is_by_report = 0
    END
),
sku_day AS (
  SELECT
    day,
    agent,
    group_key,
    model_id,
    speed,
    service_tier,
    region,
    prompt_class,
    kind,
    kind_place,
    -- What is reported is one amount, so it is the price of one.
    CASE WHEN kind = 'reported' THEN sum(usd) ELSE usd_each * CAST(CASE kind WHEN 'web_search' THEN 1000 ELSE 1000000 END AS DECIMAL(38, 0)) END AS list_usd_per_unit,
    CASE
      WHEN kind = 'reported' THEN CAST('1' AS DECIMAL(38, 6))
      ELSE CAST(sum(quantity) AS DECIMAL(38, 0)) * CASE kind WHEN 'web_search' THEN CAST('0.001' AS DECIMAL(38, 6)) ELSE CAST('0.000001' AS DECIMAL(38, 6)) END
    END AS pricing_quantity,
    CASE kind WHEN 'reported' THEN 'Unit' WHEN 'web_search' THEN '1000 Requests' ELSE '1000000 Tokens' END AS pricing_unit,
    sum(quantity) AS consumed_quantity,
    CASE kind WHEN 'web_search' THEN 'Requests' ELSE 'Tokens' END AS consumed_unit,
    sum(usd) AS list_usd
  FROM charge
  GROUP BY
    day,
    agent,
    group_key,
    model_id,
    speed,
    service_tier,
    region,
    prompt_class,
    kind,
    kind_place,
    usd_each
  HAVING sum(quantity) > 0
    OR sum(usd) > 0
)
SELECT
  CAST($org_id AS VARCHAR) AS org_id,
  CAST(sku_day.day AS DATE) AS day,
  CAST(sku_day.agent AS VARCHAR) AS agent,
  CAST(CASE WHEN $group_by <> 'none' THEN $group_by END AS VARCHAR) AS group_name,
  CAST(sku_day.group_key AS VARCHAR) AS group_key,
  CAST(sku_day.model_id AS VARCHAR) AS model_id,
  CAST(model_publisher(model_key(sku_day.model_id)) AS VARCHAR) AS publisher,
  CAST(sku_day.speed AS VARCHAR) AS speed,
  CAST(sku_day.service_tier AS VARCHAR) AS service_tier,
  CAST(sku_day.region AS VARCHAR) AS region,
  CAST(sku_day.prompt_class AS BIGINT) AS prompt_class,
  CAST(sku_day.kind AS VARCHAR) AS kind,
  CAST(sku_day.kind_place AS BIGINT) AS kind_place,
  CAST(CASE WHEN sku_day.list_usd_per_unit IS NULL THEN 1 ELSE 0 END AS BIGINT) AS is_unpriced,
  CAST(sku_day.consumed_quantity AS BIGINT) AS consumed_quantity,
  CAST(sku_day.consumed_unit AS VARCHAR) AS consumed_unit,
  CAST(sku_day.pricing_quantity AS DECIMAL(38, 6)) AS pricing_quantity,
  CAST(sku_day.pricing_unit AS VARCHAR) AS pricing_unit,
  CAST(CASE WHEN cost_terms.currency_rate IS NULL THEN 'USD' ELSE $currency END AS VARCHAR) AS currency,
  CAST(sku_day.list_usd AS DECIMAL(38, 12)) AS list_usd,
  CAST(sku_day.list_usd * coalesce(cost_terms.currency_rate, CAST('1' AS DECIMAL(18, 6))) AS DECIMAL(38, 22)) AS list_cost,
  CAST(sku_day.list_usd * coalesce(cost_terms.price_factor, CAST('1' AS DECIMAL(18, 4))) AS DECIMAL(38, 22)) AS contracted_usd,
  CAST(sku_day.list_usd * coalesce(cost_terms.contract_factor, CAST('1' AS DECIMAL(38, 10))) AS DECIMAL(38, 22)) AS contracted_cost,
  CAST(sku_day.list_usd_per_unit AS DECIMAL(38, 12)) AS list_usd_per_unit,
  CAST(sku_day.list_usd_per_unit * coalesce(cost_terms.currency_rate, CAST('1' AS DECIMAL(18, 6))) AS DECIMAL(38, 22)) AS list_per_unit,
  CAST(sku_day.list_usd_per_unit * coalesce(cost_terms.price_factor, CAST('1' AS DECIMAL(18, 4))) AS DECIMAL(38, 22)) AS contracted_usd_per_unit,
  CAST(sku_day.list_usd_per_unit * coalesce(cost_terms.contract_factor, CAST('1' AS DECIMAL(38, 10))) AS DECIMAL(38, 22)) AS contracted_per_unit
FROM sku_day
CROSS JOIN cost_terms
WHERE cost_terms.valid_from <= sku_day.day
  AND cost_terms.valid_until > sku_day.day
