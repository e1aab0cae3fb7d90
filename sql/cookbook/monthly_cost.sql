-- What does each user cost per month?
--
-- One row is one user in one month: standard credits, and the cost of the same tokens at list prices.
-- The dollars are not an invoice: they leave out subscriptions, discounts and surcharges, and `unpriced_tokens` have no cost. Events have no teams: join a list of your own by `user_id`.
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
