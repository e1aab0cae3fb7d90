-- One row is one budget of a month: what of it is spent, and what may be by the month's end. report_budgets has the budgets of one scope.
-- Grain: (month, scope, name).
-- Shown first: scope, name, budget_usd, spent_usd, spent_ratio, forecast_usd, forecast_low_usd, forecast_high_usd, state.
SELECT
  CAST(month AS VARCHAR) AS month,  -- the month, in UTC, e.g. 2026-06
  CAST(scope AS VARCHAR) AS scope,  -- what the budget is of: organization | team | cost_center | person | agent | model
  CAST(name AS VARCHAR) AS name,  -- which one of them, of the organization and of people together or null, e.g. Compilers
  CAST(budget_usd AS DOUBLE) AS budget_usd,  -- the budget of the month in USD of the price list, e.g. 3000
  CAST(spent_usd AS DOUBLE) AS spent_usd,  -- cost_usd of the built days of the month, if it isn't shown or null, e.g. 1804.2
  CAST(spent_ratio AS DOUBLE) AS spent_ratio,  -- its share of the budget, if it isn't shown or null, e.g. 0.6014
  CAST(forecast_usd AS DOUBLE) AS forecast_usd,  -- spent_usd by the end of the month, if it isn't known or null, e.g. 2710.5
  CAST(forecast_low_usd AS DOUBLE) AS forecast_low_usd,  -- the lower end of its interval, before 15 built days or null, e.g. 2480.1
  CAST(forecast_high_usd AS DOUBLE) AS forecast_high_usd,  -- the upper end of its interval, before 15 built days or null, e.g. 2940.9
  CAST(state AS VARCHAR) AS state,  -- whether the budget holds, of people together or null: holds | may_not_hold | above | too_early | not_shown
  CAST(built_days AS BIGINT) AS built_days,  -- built days of the month, e.g. 19
  CAST(left_days AS BIGINT) AS left_days,  -- days of the month that aren't built, e.g. 11
  CAST(unbuilt_days AS BIGINT) AS unbuilt_days,  -- of them, days that are over: "daybook build" builds them, e.g. 0
  CAST(half_on AS DATE) AS half_on,  -- the day on which 50 % were spent, else or null, e.g. 2026-06-16
  CAST(most_on AS DATE) AS most_on,  -- the day on which 80 % were spent, else or null, e.g. 2026-06-24
  CAST(all_on AS DATE) AS all_on,  -- the day on which 100 % were spent, else or null, e.g. 2026-06-29
  CAST(contracted_spent AS DOUBLE) AS contracted_spent,  -- spent_usd by the terms of the organization, on days without terms or null, e.g. 1411.2
  CAST(currency AS VARCHAR) AS currency,  -- the currency of contracted_spent, without terms or null, e.g. EUR
  CAST(unpriced_tokens AS BIGINT) AS unpriced_tokens,  -- tokens without a known price, which no cost includes, or null, e.g. 0
  CAST(people AS BIGINT) AS people,  -- how many people had costs, only of people together, else or null, e.g. 24
  CAST(people_above AS BIGINT) AS people_above  -- how many of them are above their budget, if that tells few people apart or null, e.g. 5
FROM report_budgets
ORDER BY
  state IS NOT NULL,
  spent_ratio DESC NULLS LAST,
  name
