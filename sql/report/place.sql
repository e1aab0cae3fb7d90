-- One row is one number of a person in a range, and where it stands among those of the others who were active in it. Nobody else is named, and no
-- number is that of one of them: a percentile is the mean of the $people_together numbers around it. There is no row unless the first and the last so
-- many are of different people. summary_row is summary.sql by user.
-- Grain: (measure).
-- TRICKY: ClickHouse computes summary_row again for each place that names it, so there is one.
WITH
measured AS (
  SELECT
    group_key AS user_id,
    measure,
    CASE measure
      WHEN 'cost_usd' THEN CAST(cost_usd AS DOUBLE)
      WHEN 'sessions' THEN CAST(sessions AS DOUBLE)
      WHEN 'user_turns' THEN CAST(user_turns AS DOUBLE)
      WHEN 'tool_calls' THEN CAST(tool_calls AS DOUBLE)
      WHEN 'autonomy_ratio' THEN CAST(autonomy_ratio AS DOUBLE)
      WHEN 'commits' THEN CAST(commits AS DOUBLE)
      WHEN 'active_days' THEN CAST(active_days AS DOUBLE)
    END AS value
  FROM summary_row
  CROSS JOIN (
    SELECT 'cost_usd' AS measure
    UNION ALL
    SELECT 'sessions' AS measure
    UNION ALL
    SELECT 'user_turns' AS measure
    UNION ALL
    SELECT 'tool_calls' AS measure
    UNION ALL
    SELECT 'autonomy_ratio' AS measure
    UNION ALL
    SELECT 'commits' AS measure
    UNION ALL
    SELECT 'active_days' AS measure
  ) AS measures
),
compared AS (
  SELECT
    user_id,
    measure,
    value,
    max(CASE WHEN user_id = $reader THEN value END) OVER (PARTITION BY measure) AS own
  FROM measured
  WHERE value IS NOT NULL
),
ranked AS (
  SELECT
    measure,
    own,
    value,
    row_number() OVER (PARTITION BY measure ORDER BY value, user_id) AS place,
    CAST(count(*) OVER (PARTITION BY measure) AS BIGINT) AS others
  FROM compared
  WHERE user_id <> $reader AND own IS NOT NULL
),
-- with the first place of the numbers around each percentile
around AS (
  SELECT
    measure,
    own,
    value,
    place,
    others,
    least(greatest(CAST(ceil(others * 0.1) - floor($people_together / 2) AS BIGINT), 1), others - $people_together + 1) AS p10_from,
    least(greatest(CAST(ceil(others * 0.5) - floor($people_together / 2) AS BIGINT), 1), others - $people_together + 1) AS median_from,
    least(greatest(CAST(ceil(others * 0.9) - floor($people_together / 2) AS BIGINT), 1), others - $people_together + 1) AS p90_from
  FROM ranked
  WHERE others >= 2 * $people_together
)
SELECT
  CAST(measure AS VARCHAR) AS measure,
  CAST(max(own) AS DOUBLE) AS own,
  CAST(ratio(sum(CASE WHEN value < own THEN 1 ELSE 0 END), max(others)) AS DOUBLE) AS below,
  CAST(ratio(sum(CASE WHEN place >= p10_from AND place < p10_from + $people_together THEN value END), $people_together) AS DOUBLE) AS p10,
  CAST(ratio(sum(CASE WHEN place >= median_from AND place < median_from + $people_together THEN value END), $people_together) AS DOUBLE) AS median,
  CAST(ratio(sum(CASE WHEN place >= p90_from AND place < p90_from + $people_together THEN value END), $people_together) AS DOUBLE) AS p90,
  CAST(max(others) + 1 AS BIGINT) AS people
FROM around
GROUP BY measure
ORDER BY measure
