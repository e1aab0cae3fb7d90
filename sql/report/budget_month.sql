-- One row is what a name of a scope cost in a month, spread over the days of the month as the cost of the organization is. For a request that may
-- tell few people apart no more than the month's total of a group: its days would give away who worked on them.
-- month_row is summary.sql by month and scope. organization_day has the cost of the organization on each day.
-- Grain: (day, name).
WITH
share_of_day AS (
  SELECT
    CAST(date_trunc('month', day) AS DATE) AS month,
    day,
    CAST(cost_usd AS DOUBLE) / nullif(sum(CAST(cost_usd AS DOUBLE)) OVER (PARTITION BY date_trunc('month', day)), 0) AS share,
    row_number() OVER (PARTITION BY date_trunc('month', day) ORDER BY day) AS place
  FROM organization_day
)
SELECT
  share_of_day.day AS day,
  month_row.group_key AS name,
  CAST(coalesce(CAST(month_row.cost_usd AS DOUBLE) * share_of_day.share, 0) AS DECIMAL(38, 12)) AS cost_usd,
  CAST(CAST(month_row.contracted_cost AS DOUBLE) * coalesce(share_of_day.share, 0) AS DECIMAL(38, 22)) AS contracted_cost,
  CASE WHEN share_of_day.place = 1 THEN month_row.unpriced_tokens ELSE 0 END AS unpriced_tokens
FROM month_row
JOIN share_of_day
  ON share_of_day.month = month_row.day
