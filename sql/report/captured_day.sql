-- One row is one agent of one user on one day of which a vendor reported tokens, with those that better channels have and that count.
-- Grain: (user_id, day, agent).
SELECT
  reported.user_id AS user_id,
  reported.day AS day,
  reported.agent AS agent,
  reported.vendor_tokens AS vendor_tokens,
  -- If no better channel has tokens, those that count are the vendor's.
  CASE WHEN reported.other_tokens > 0 THEN coalesce(counted.tokens, 0) ELSE 0 END AS captured_tokens
FROM (
  SELECT
    user_id,
    day,
    agent,
    sum(CASE WHEN channel = 'vendor_api' THEN tokens ELSE 0 END) AS vendor_tokens,
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
WHERE reported.vendor_tokens > 0
