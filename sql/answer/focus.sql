-- One row is a charge as FOCUS 1.2 has it: one kind of tokens of one model, used with one agent on one day, by group if there are groups.
-- Grain: (ChargePeriodStart, Tags, SkuPriceId, ListUnitPrice).
-- Shown first: ChargePeriodStart, ChargeDescription, BilledCost, BillingCurrency, ConsumedQuantity, Tags.
SELECT
  CAST(contracted_cost AS DECIMAL(38, 22)) AS BilledCost,  -- what the tokens cost by the terms of the organization, without terms at list price; 0 for tokens without a known price, e.g. 1.4076
  CAST(org_id AS VARCHAR) AS BillingAccountId,  -- the organization, e.g. acme
  CAST(NULL AS VARCHAR) AS BillingAccountName,  -- always null: organizations have no other name or null, e.g. Acme
  CAST(currency AS VARCHAR) AS BillingCurrency,  -- the currency of the terms, on days without terms USD, e.g. EUR
  CAST(strftime(date_trunc('month', day) + INTERVAL 1 MONTH, '%Y-%m-%dT%H:%M:%SZ') AS VARCHAR) AS BillingPeriodEnd,  -- the first instant after the month, e.g. 2026-07-01T00:00:00Z
  CAST(strftime(date_trunc('month', day), '%Y-%m-%dT%H:%M:%SZ') AS VARCHAR) AS BillingPeriodStart,  -- the first instant of the month in UTC, e.g. 2026-06-01T00:00:00Z
  CAST('Usage' AS VARCHAR) AS ChargeCategory,  -- always Usage, e.g. Usage
  CAST(NULL AS VARCHAR) AS ChargeClass,  -- always null: a day that is built again replaces its rows and has no corrections or null, e.g. Correction
  CAST(
    concat(
      model_id,
      CASE kind
        WHEN 'input' THEN ': uncached input tokens'
        WHEN 'output' THEN ': output tokens'
        WHEN 'cache_read' THEN ': tokens read from the cache'
        WHEN 'cache_write' THEN ': tokens written to the cache'
        WHEN 'cache_write_1h' THEN ': tokens written to the cache for an hour'
        WHEN 'web_search' THEN ': web searches'
        ELSE ': calls at the cost that was reported of them'
      END,
      CASE WHEN is_unpriced = 1 THEN ', whose price is not known' ELSE '' END
    ) AS VARCHAR
  ) AS ChargeDescription,  -- what was charged, e.g. claude-sonnet-4-5: output tokens
  CAST(strftime(day + INTERVAL 1 DAY, '%Y-%m-%dT%H:%M:%SZ') AS VARCHAR) AS ChargePeriodEnd,  -- the first instant after the day, e.g. 2026-06-02T00:00:00Z
  CAST(strftime(CAST(day AS TIMESTAMP), '%Y-%m-%dT%H:%M:%SZ') AS VARCHAR) AS ChargePeriodStart,  -- the first instant of the day in UTC, e.g. 2026-06-01T00:00:00Z
  CAST(consumed_quantity AS BIGINT) AS ConsumedQuantity,  -- tokens, or web searches, e.g. 120000
  CAST(consumed_unit AS VARCHAR) AS ConsumedUnit,  -- what is counted: Tokens | Requests
  CAST(contracted_cost AS DECIMAL(38, 22)) AS ContractedCost,  -- the same as BilledCost, e.g. 1.4076
  CAST(contracted_per_unit AS DECIMAL(38, 22)) AS ContractedUnitPrice,  -- the price of a PricingUnit by the terms of the organization, if it isn't known or null, e.g. 11.73
  CAST(contracted_cost AS DECIMAL(38, 22)) AS EffectiveCost,  -- the same as BilledCost, e.g. 1.4076
  CAST(publisher AS VARCHAR) AS InvoiceIssuerName,  -- the same as PublisherName: events don't say who sends the invoice, e.g. Anthropic
  CAST(list_cost AS DECIMAL(38, 22)) AS ListCost,  -- what the tokens cost by the price list, in BillingCurrency, e.g. 1.656
  CAST(list_per_unit AS DECIMAL(38, 22)) AS ListUnitPrice,  -- the listed price of a PricingUnit in BillingCurrency, if it isn't known or null, e.g. 13.8
  CAST('USD' AS VARCHAR) AS PricingCurrency,  -- the currency of the price list: always USD, e.g. USD
  CAST(contracted_usd_per_unit AS DECIMAL(38, 22)) AS PricingCurrencyContractedUnitPrice,  -- ContractedUnitPrice in USD, if it isn't known or null, e.g. 12.75
  CAST(contracted_usd AS DECIMAL(38, 22)) AS PricingCurrencyEffectiveCost,  -- EffectiveCost in USD, e.g. 1.53
  CAST(list_usd_per_unit AS DECIMAL(38, 12)) AS PricingCurrencyListUnitPrice,  -- ListUnitPrice in USD, if it isn't known or null, e.g. 15
  CAST(pricing_quantity AS DECIMAL(38, 6)) AS PricingQuantity,  -- how many units of PricingUnit, e.g. 0.12
  CAST(pricing_unit AS VARCHAR) AS PricingUnit,  -- what the price is of; Unit for an amount that was reported: 1000000 Tokens | 1000 Requests | Unit
  CAST(publisher AS VARCHAR) AS ProviderName,  -- the same as PublisherName: events don't say who serves a model, e.g. Anthropic
  CAST(publisher AS VARCHAR) AS PublisherName,  -- who publishes the model, by its name; Other for models that are not listed, e.g. Anthropic
  CAST('AI and Machine Learning' AS VARCHAR) AS ServiceCategory,  -- always AI and Machine Learning, e.g. AI and Machine Learning
  CAST(concat(publisher, ' models') AS VARCHAR) AS ServiceName,  -- the models of the publisher, e.g. Anthropic models
  CAST(concat(model_id, '/', kind) AS VARCHAR) AS SkuId,  -- the model and the kind of token, e.g. claude-sonnet-4-5/output
  CAST(kind AS VARCHAR) AS SkuMeter,  -- the kind of token, of calls without any known price that tell their cost reported: input | output | cache_read | cache_write | cache_write_1h | web_search | reported
  CAST(
    '{' || nullif(
      concat_ws(
        ',',
        CASE WHEN speed <> '' THEN concat('"x_Speed":', CAST(to_json(speed) AS VARCHAR)) END,
        CASE WHEN service_tier <> '' THEN concat('"x_ServiceTier":', CAST(to_json(service_tier) AS VARCHAR)) END,
        CASE WHEN region <> '' THEN concat('"x_Region":', CAST(to_json(region) AS VARCHAR)) END,
        CASE WHEN prompt_class > 0 THEN concat('"x_PromptAbove":', CAST(prompt_class AS VARCHAR)) END
      ),
      ''
    ) || '}' AS VARCHAR
  ) AS SkuPriceDetails,  -- an object in JSON with the way of the calls, as far as it isn't the usual one or null, e.g. {"x_Speed":"fast"}
  CAST(
    concat_ws(
      '/',
      model_id,
      kind,
      CASE WHEN speed <> '' THEN concat('speed=', speed) END,
      CASE WHEN service_tier <> '' THEN concat('tier=', service_tier) END,
      CASE WHEN region <> '' THEN concat('region=', region) END,
      CASE WHEN prompt_class > 0 THEN concat('above=', CAST(prompt_class AS VARCHAR)) END
    ) AS VARCHAR
  ) AS SkuPriceId,  -- SkuId with the way of the calls, e.g. claude-sonnet-4-5/output/speed=fast
  CAST(
    concat(
      '{',
      concat_ws(
        ',',
        CASE WHEN agent <> '' THEN concat('"daybook/agent":', CAST(to_json(agent) AS VARCHAR)) END,
        CASE WHEN group_key <> '' THEN concat('"daybook/', group_name, '":', CAST(to_json(group_key) AS VARCHAR)) END,
        CASE WHEN is_unpriced = 1 THEN '"daybook/unpriced":true' END
      ),
      '}'
    ) AS VARCHAR
  ) AS Tags  -- an object in JSON: daybook/agent, the group as daybook/team and the like, and daybook/unpriced if the price isn't known, e.g. {"daybook/agent":"claude-code","daybook/team":"Compilers"}
FROM report_focus
ORDER BY
  day,
  agent,
  group_key,
  model_id,
  kind_place,
  speed,
  service_tier,
  region,
  prompt_class,
  list_usd_per_unit
