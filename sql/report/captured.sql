-- One row is one agent on whose days a vendor reported tokens, with how much of them better channels have.
-- captured_day is the file captured_day.sql.
-- Grain: (agent).
SELECT
  CAST(agent AS VARCHAR) AS agent,
  CAST(count(DISTINCT user_id) AS BIGINT) AS users,
  CAST(sum(vendor_tokens) AS BIGINT) AS vendor_tokens,
  CAST(sum(captured_tokens) AS BIGINT) AS captured_tokens,
  CAST(ratio(sum(captured_tokens), sum(vendor_tokens)) AS DOUBLE) AS captured_ratio
FROM captured_day
GROUP BY agent
ORDER BY agent
