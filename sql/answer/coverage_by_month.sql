-- One row is one agent of one user of a page in one month, on whose days a vendor reported tokens: how much of them better channels have.
-- Grain: (user_id, month, agent).
-- Shown first: user_id, month, agent, captured_ratio, vendor_tokens, captured_tokens, days, days_disagreeing.
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
  CAST(token_difference_ratio AS DOUBLE) AS token_difference_ratio  -- difference between the two, as a share of the greater, e.g. 0.022
FROM report_coverage_by_month
ORDER BY
  user_id,
  month,
  agent
