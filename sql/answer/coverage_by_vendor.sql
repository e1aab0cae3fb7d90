-- One row is what one vendor bills of one agent, or in all, in one month, and how much of it better channels have.
-- Grain: (month, vendor, agent).
-- Shown first: month, vendor, agent, captured_cost_ratio, gross_usd, captured_usd, billed_usd, captured_ratio.
SELECT
  CAST(month AS DATE) AS month,  -- the first day of the month, in UTC, e.g. 2026-06-01
  CAST(vendor AS VARCHAR) AS vendor,  -- whose bill it is: anthropic, cursor, github or openai; empty for an agent of none of them, e.g. anthropic
  CAST(agent AS VARCHAR) AS agent,  -- the agent of which the vendor reports people; empty for the bill of all that is used, which is compared with the vendor's own agents, e.g. claude-code
  CAST(days AS BIGINT) AS days,  -- days of which the vendor says something, e.g. 21
  CAST(billed_usd AS DECIMAL(38, 12)) AS billed_usd,  -- what is to be paid, also negative, or null, e.g. 1840.25
  CAST(gross_usd AS DECIMAL(38, 12)) AS gross_usd,  -- the same before discounts and included credits, also negative, or null, e.g. 1840.25
  CAST(captured_usd AS DECIMAL(38, 12)) AS captured_usd,  -- list prices of the tokens that better channels have on the days that are billed, or null, e.g. 1799.77
  CAST(captured_cost_ratio AS DOUBLE) AS captured_cost_ratio,  -- this as a share of gross_usd, or null, e.g. 0.978
  CAST(cost_difference_ratio AS DOUBLE) AS cost_difference_ratio,  -- difference between the two, as a share of the greater, or null, e.g. 0.022
  CAST(captured_unpriced_tokens AS BIGINT) AS captured_unpriced_tokens,  -- tokens of captured_usd without a known price, which it leaves out, or null, e.g. 0
  CAST(vendor_tokens AS BIGINT) AS vendor_tokens,  -- tokens of all kinds that the vendor reports, or null, e.g. 12810000
  CAST(captured_tokens AS BIGINT) AS captured_tokens,  -- tokens of all kinds that better channels have on these days, or null, e.g. 12528000
  CAST(captured_ratio AS DOUBLE) AS captured_ratio  -- these as a share of those of the vendor, or null, e.g. 0.978
FROM report_coverage_by_vendor
ORDER BY
  month,
  vendor,
  agent
