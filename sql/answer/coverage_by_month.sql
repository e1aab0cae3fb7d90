-- One row is one agent of one user of a page in one month, on whose days a vendor reported tokens: how much of them better channels have.
-- Grain: (user_id, month, agent).
-- Shown first: user_id, month, agent, captured_ratio, captured_cost_ratio, vendor_usd, captured_usd, vendor_tokens, captured_tokens.
SELECT
  CAST(user_id AS VARCHAR) AS user_id,  -- id of the user, e.g. ada
  CAST(user_email AS VARCHAR) AS user_email,  -- newest e-mail address in the user's events, or null, e.g. ada@acme.example
  CAST(month AS DATE) AS month,  -- the first day of the month, in UTC, e.g. 2026-06-01
  CAST(agent AS VARCHAR) AS agent,  -- the agent, empty if events name none, e.g. claude-code
  CAST(days AS BIGINT) AS days,  -- days on which the vendor reported tokens, e.g. 21
  CAST(days_disagreeing AS BIGINT) AS days_disagreeing,  -- days of them on which the two differ by more than 1 %, e.g. 2
  CAST(vendor_tokens AS BIGINT) AS vendor_tokens,  -- tokens of all kinds that the vendor reported, e.g. 12810000
  CAST(captured_tokens AS BIGINT) AS captured_tokens,  -- tokens of all kinds that better channels have on these days, e.g. 12528000
  CAST(captured_ratio AS DOUBLE) AS captured_ratio,  -- these as a share of those of the vendor, e.g. 0.978
  CAST(token_difference_ratio AS DOUBLE) AS token_difference_ratio,  -- difference between the two, as a share of the greater, e.g. 0.022
  CAST(vendor_usd AS DECIMAL(38, 12)) AS vendor_usd,  -- what the vendor says that its tokens cost, or null, e.g. 184.2
  CAST(captured_usd AS DECIMAL(38, 12)) AS captured_usd,  -- list prices of the tokens that better channels have on the days on which the vendor says a cost, or null, e.g. 180.15
  CAST(captured_cost_ratio AS DOUBLE) AS captured_cost_ratio,  -- this as a share of what the vendor says, or null, e.g. 0.978
  CAST(cost_difference_ratio AS DOUBLE) AS cost_difference_ratio,  -- difference between the two, as a share of the greater, or null, e.g. 0.022
  CAST(captured_unpriced_tokens AS BIGINT) AS captured_unpriced_tokens  -- tokens of captured_usd without a known price, which it leaves out, or null, e.g. 0
FROM report_coverage_by_month
ORDER BY
  user_id,
  month,
  agent
