-- One row is what one vendor bills of one agent, or in all, in one month, and how much of it events of better channels have. A bill in all is compared
-- with the vendor's own agents.
-- captured_day is the file captured_day.sql.
-- Grain: (month, vendor, agent).
WITH
-- A day that isn't built has no events yet.
built AS (
  SELECT max(day) AS last_day
  FROM days
  WHERE org_id = $org_id
),
billed_day AS (
  SELECT
    vendor,
    day,
    sum(CAST(usd AS DECIMAL(38, 12))) AS usd,
    sum(CAST(gross_usd AS DECIMAL(38, 12))) AS gross_usd,
    sum(tokens) AS tokens
  FROM vendor_bills
  WHERE org_id = $org_id
    AND day BETWEEN $from AND $to
    AND day <= (SELECT last_day FROM built)
  GROUP BY
    vendor,
    day
),
seen_day AS (
  SELECT
    vendor_of(agent) AS vendor,
    day,
    sum(captured_tokens) AS tokens,
    sum(captured_usd) AS usd,
    sum(captured_unpriced_tokens) AS unpriced_tokens
  FROM captured_day
  GROUP BY
    vendor_of(agent),
    day
),
compared AS (
  SELECT
    period_of('month', billed_day.day, billed_day.day) AS month,
    billed_day.vendor AS vendor,
    '' AS agent,
    count(*) AS days,
    sum(billed_day.usd) AS billed_usd,
    sum(billed_day.gross_usd) AS gross_usd,
    sum(CASE WHEN billed_day.usd IS NOT NULL THEN coalesce(seen_day.usd, CAST(0 AS DECIMAL(38, 12))) END) AS captured_usd,
    sum(CASE WHEN billed_day.usd IS NOT NULL THEN coalesce(seen_day.unpriced_tokens, 0) END) AS captured_unpriced_tokens,
    sum(billed_day.tokens) AS vendor_tokens,
    sum(CASE WHEN billed_day.tokens IS NOT NULL THEN coalesce(seen_day.tokens, 0) END) AS captured_tokens
  FROM billed_day
  LEFT JOIN seen_day
    ON seen_day.vendor = billed_day.vendor
    AND seen_day.day = billed_day.day
  GROUP BY
    period_of('month', billed_day.day, billed_day.day),
    billed_day.vendor
  UNION ALL
  SELECT
    period_of('month', day, day) AS month,
    vendor_of(agent) AS vendor,
    agent,
    count(DISTINCT day) AS days,
    sum(vendor_usd) AS billed_usd,
    sum(vendor_usd) AS gross_usd,
    sum(CASE WHEN vendor_usd IS NOT NULL THEN captured_usd END) AS captured_usd,
    sum(CASE WHEN vendor_usd IS NOT NULL THEN captured_unpriced_tokens END) AS captured_unpriced_tokens,
    sum(vendor_tokens) AS vendor_tokens,
    sum(captured_tokens) AS captured_tokens
  FROM captured_day
  WHERE vendor_tokens > 0
  GROUP BY
    period_of('month', day, day),
    agent
)
SELECT
  CAST(month AS DATE) AS month,
  CAST(vendor AS VARCHAR) AS vendor,
  CAST(agent AS VARCHAR) AS agent,
  CAST(days AS BIGINT) AS days,
  CAST(billed_usd AS DECIMAL(38, 12)) AS billed_usd,
  CAST(gross_usd AS DECIMAL(38, 12)) AS gross_usd,
  CAST(captured_usd AS DECIMAL(38, 12)) AS captured_usd,
  CAST(CASE WHEN gross_usd > 0 THEN ratio(captured_usd, gross_usd) END AS DOUBLE) AS captured_cost_ratio,
  CAST(CASE WHEN gross_usd >= 0 THEN difference_ratio(captured_usd, gross_usd) END AS DOUBLE) AS cost_difference_ratio,
  CAST(captured_unpriced_tokens AS BIGINT) AS captured_unpriced_tokens,
  CAST(vendor_tokens AS BIGINT) AS vendor_tokens,
  CAST(captured_tokens AS BIGINT) AS captured_tokens,
  CAST(CASE WHEN vendor_tokens > 0 THEN ratio(captured_tokens, vendor_tokens) END AS DOUBLE) AS captured_ratio
FROM compared
