-- One row is what alerts look at of the last closed day and the days before it. Baseline: the median cost of the built days of the same weekday in the
-- eight weeks before.
-- cost_row is costs.sql of these weeks, which has more rows for a day with several models without a price. $first is the first day of them, $week that of
-- the last seven days, and $overdue the last day that should be built.
-- Grain: ().
WITH
day_cost AS (
  SELECT
    day,
    max(coalesce(cost_usd, CAST(0 AS DECIMAL(38, 12)))) AS usd,
    max(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) AS tokens,
    max(unpriced_tokens) AS unpriced_tokens
  FROM cost_row
  GROUP BY day
),
same_weekday AS (
  SELECT
    activity.day AS day,
    coalesce(day_cost.usd, CAST(0 AS DECIMAL(38, 12))) AS usd
  FROM activity
  LEFT JOIN day_cost
    ON day_cost.day = activity.day
  WHERE activity.org_id = $org_id
    AND activity.day BETWEEN $first AND $last - 1
    AND CAST($last - activity.day AS BIGINT) % 7 = 0
),
numbered AS (
  SELECT
    usd,
    row_number() OVER (ORDER BY usd) AS place,
    count(*) OVER () AS all_days
  FROM same_weekday
),
baseline AS (
  SELECT
    CAST(avg(CAST(usd AS DOUBLE)) AS DOUBLE) AS usd,
    CAST(coalesce(max(all_days), 0) AS BIGINT) AS all_days
  FROM numbered
  -- the middle one, or the middle two
  WHERE 2 * place BETWEEN all_days AND all_days + 2
),
week_tokens AS (
  SELECT
    CAST(coalesce(sum(tokens), 0) AS BIGINT) AS tokens,
    CAST(coalesce(sum(unpriced_tokens), 0) AS BIGINT) AS unpriced_tokens
  FROM day_cost
  WHERE day BETWEEN $week AND $last
),
week_lines AS (
  SELECT
    CAST(coalesce(sum(accepted), 0) AS BIGINT) AS accepted,
    CAST(coalesce(sum(rejected), 0) AS BIGINT) AS rejected
  FROM day_quality
  WHERE org_id = $org_id
    AND day BETWEEN $week AND $last
),
unbuilt AS (
  SELECT
    count(*) AS all_days,
    min(day) AS first_day
  FROM (
    SELECT DISTINCT day
    FROM arrivals
    WHERE org_id = $org_id
      AND changed > 0
      AND day <= $overdue
      AND day NOT IN (SELECT day FROM days WHERE org_id = $org_id)
      AND day NOT IN (SELECT day FROM removed_days WHERE org_id = $org_id)
  ) AS missing
)
SELECT
  CAST(last_day.usd AS DOUBLE) AS day_usd,
  CAST(baseline.usd AS DOUBLE) AS baseline_usd,
  CAST(baseline.all_days AS BIGINT) AS baseline_days,
  CAST(CASE WHEN baseline.all_days >= 4 AND last_day.usd >= 2 * baseline.usd AND last_day.usd - baseline.usd >= 20 THEN 1 ELSE 0 END AS BIGINT) AS is_dear,
  CAST(week_tokens.unpriced_tokens AS BIGINT) AS unpriced_tokens,
  CAST(ratio(week_tokens.unpriced_tokens, week_tokens.tokens) AS DOUBLE) AS unpriced_ratio,
  CAST(CASE WHEN week_tokens.unpriced_tokens > 0.05 * week_tokens.tokens THEN 1 ELSE 0 END AS BIGINT) AS is_unpriced,
  CAST(week_lines.rejected AS BIGINT) AS rejected,
  CAST(ratio(week_lines.rejected, week_lines.accepted + week_lines.rejected) AS DOUBLE) AS rejected_ratio,
  CAST(CASE WHEN week_lines.rejected > 0.01 * (week_lines.accepted + week_lines.rejected) THEN 1 ELSE 0 END AS BIGINT) AS is_rejected,
  CAST(unbuilt.all_days AS BIGINT) AS unbuilt_days,
  CAST(unbuilt.first_day AS DATE) AS first_unbuilt_day
FROM (
  SELECT CAST(coalesce(max(usd), 0) AS DOUBLE) AS usd
  FROM day_cost
  WHERE day = $last
) AS last_day
CROSS JOIN baseline
CROSS JOIN week_tokens
CROSS JOIN week_lines
CROSS JOIN unbuilt
