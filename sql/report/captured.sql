-- One row is one agent on whose days a vendor reported tokens, with how much of them, and of what it says that they cost, better channels have.
-- captured_day is the file captured_day.sql.
-- Grain: (agent).
SELECT
  CAST(agent AS VARCHAR) AS agent,
  CAST(count(DISTINCT user_id) AS BIGINT) AS users,
  CAST(sum(vendor_tokens) AS BIGINT) AS vendor_tokens,
  CAST(sum(captured_tokens) AS BIGINT) AS captured_tokens,
  CAST(ratio(sum(captured_tokens), sum(vendor_tokens)) AS DOUBLE) AS captured_ratio,
  CAST(sum(vendor_usd) AS DECIMAL(38, 12)) AS vendor_usd,
  CAST(sum(CASE WHEN vendor_usd IS NOT NULL THEN captured_usd END) AS DECIMAL(38, 12)) AS captured_usd,
  CAST(
    CASE WHEN sum(vendor_usd) > 0 THEN ratio(sum(CASE WHEN vendor_usd IS NOT NULL THEN captured_usd END), sum(vendor_usd)) END AS DOUBLE
  ) AS captured_cost_ratio
FROM captured_day
WHERE vendor_tokens > 0
GROUP BY agent
ORDER BY agent
