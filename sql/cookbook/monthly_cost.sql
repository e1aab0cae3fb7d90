-- What does each user cost a month?
--
-- One row is one user in one month: standard credits, and what the same tokens cost at list prices.
-- The dollars are no invoice: subscriptions, discounts and surcharges aren't in them, and tokens without a known price are counted beside them instead of as nothing. Events know no teams: join a list of your own by `user_id`.
-- Grain: (month, user_id).
SELECT
  CAST(date_trunc('month', day) AS DATE) AS month,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(count(DISTINCT day) AS BIGINT) AS days,
  CAST(sum(billable_tokens) AS BIGINT) AS billable_tokens,
  CAST(round(CAST(sum(cost_usd) AS DOUBLE), 2) AS DOUBLE) AS cost_usd,
  CAST(sum(unpriced_tokens) AS BIGINT) AS unpriced_tokens
FROM user_costs
WHERE day BETWEEN $from AND $to
GROUP BY
  date_trunc('month', day),
  user_id
ORDER BY
  month,
  sum(billable_tokens) DESC,
  user_id
