-- One row is one agent of one user on one day of which tokens were reported: those that a vendor reports and what it says that they cost, and
-- those that better channels have and that count, with their cost at list prices.
-- Grain: (user_id, day, agent).
SELECT
  reported.user_id AS user_id,
  reported.day AS day,
  reported.agent AS agent,
  reported.vendor_tokens AS vendor_tokens,
  reported.vendor_usd AS vendor_usd,  -- null if the vendor doesn't say it
  -- If no better channel has tokens, those that count are the vendor's.
  CASE WHEN reported.other_tokens > 0 THEN coalesce(counted.tokens, 0) ELSE 0 END AS captured_tokens,
  -- Of tokens that have a price.
  CASE WHEN reported.other_tokens > 0 THEN coalesce(costed.usd, CAST(0 AS DECIMAL(38, 12))) ELSE CAST(0 AS DECIMAL(38, 12)) END AS captured_usd,
  CASE WHEN reported.other_tokens > 0 THEN coalesce(costed.unpriced_tokens, 0) ELSE 0 END AS captured_unpriced_tokens
FROM (
  SELECT
    user_id,
    day,
    agent,
    sum(CASE WHEN channel = 'vendor_api' THEN tokens ELSE 0 END) AS vendor_tokens,
    sum(CASE WHEN channel = 'vendor_api' AND costed_calls > 0 THEN CAST(reported_cost_usd AS DECIMAL(38, 12)) END) AS vendor_usd,
    sum(CASE WHEN channel = 'vendor_api' THEN 0 ELSE tokens END) AS other_tokens
  FROM coverage
  WHERE org_id = $org_id
    AND day BETWEEN $from AND $to
  GROUP BY
    user_id,
    day,
    agent
) AS reported
LEFT JOIN (
  SELECT
    user_id,
    day,
    agent,
    sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) AS tokens
  FROM user_models
  WHERE org_id = $org_id
    AND day BETWEEN $from AND $to
  GROUP BY
    user_id,
    day,
    agent
) AS counted
  ON counted.user_id = reported.user_id
  AND counted.day = reported.day
  AND counted.agent = reported.agent
LEFT JOIN (
  SELECT
    user_id,
    day,
    agent,
    sum(cost_usd) AS usd,
    sum(unpriced_tokens) AS unpriced_tokens
  FROM user_costs
  WHERE org_id = $org_id
    AND day BETWEEN $from AND $to
  GROUP BY
    user_id,
    day,
    agent
) AS costed
  ON costed.user_id = reported.user_id
  AND costed.day = reported.day
  AND costed.agent = reported.agent
WHERE reported.vendor_tokens + reported.other_tokens > 0
