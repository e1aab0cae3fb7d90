-- One row is one number of a person in a range, and where it stands among those of all people who were active in it: nobody else is named.
-- There are none of fewer than $people_at_least people. summary_row is summary.sql by user.
-- Grain: (measure).
WITH
measured AS (
  SELECT
    group_key AS user_id,
    'cost_usd' AS measure,
    CAST(cost_usd AS DOUBLE) AS value
  FROM summary_row
  UNION ALL
  SELECT
    group_key AS user_id,
    'sessions' AS measure,
    CAST(sessions AS DOUBLE) AS value
  FROM summary_row
  UNION ALL
  SELECT
    group_key AS user_id,
    'user_turns' AS measure,
    CAST(user_turns AS DOUBLE) AS value
  FROM summary_row
  UNION ALL
  SELECT
    group_key AS user_id,
    'tool_calls' AS measure,
    CAST(tool_calls AS DOUBLE) AS value
  FROM summary_row
  UNION ALL
  SELECT
    group_key AS user_id,
    'autonomy_ratio' AS measure,
    CAST(autonomy_ratio AS DOUBLE) AS value
  FROM summary_row
  UNION ALL
  SELECT
    group_key AS user_id,
    'commits' AS measure,
    CAST(commits AS DOUBLE) AS value
  FROM summary_row
  UNION ALL
  SELECT
    group_key AS user_id,
    'active_days' AS measure,
    CAST(active_days AS DOUBLE) AS value
  FROM summary_row
),
ranked AS (
  SELECT
    user_id,
    measure,
    value,
    row_number() OVER (PARTITION BY measure ORDER BY value, user_id) AS place,
    count(*) OVER (PARTITION BY measure) AS people
  FROM measured
  WHERE value IS NOT NULL
),
own AS (
  SELECT
    measure,
    value
  FROM ranked
  WHERE user_id = $reader
)
SELECT
  CAST(own.measure AS VARCHAR) AS measure,
  CAST(max(own.value) AS DOUBLE) AS own,
  CAST(ratio(sum(CASE WHEN ranked.value < own.value THEN 1 ELSE 0 END), max(ranked.people) - 1) AS DOUBLE) AS below,
  CAST(max(CASE WHEN ranked.place = ceil(ranked.people * 0.1) THEN ranked.value END) AS DOUBLE) AS p10,
  CAST(max(CASE WHEN ranked.place = ceil(ranked.people * 0.5) THEN ranked.value END) AS DOUBLE) AS median,
  CAST(max(CASE WHEN ranked.place = ceil(ranked.people * 0.9) THEN ranked.value END) AS DOUBLE) AS p90,
  CAST(max(ranked.people) AS BIGINT) AS people
FROM own
JOIN ranked
  ON ranked.measure = own.measure
GROUP BY own.measure
HAVING max(ranked.people) >= $people_at_least
ORDER BY own.measure
