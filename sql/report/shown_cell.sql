-- One row is one group with enough people in a period, so that a request that may tell no few people apart has a row of it. The others are
-- joined, and with them the smallest of those with enough people: a total minus the rows of groups gives nobody away. A group also needs as many
-- people, or none, whom only one of the filters leaves out: the difference of two requests would be theirs.
-- placed_row is placed_row.sql.
-- Grain: (period, group_key).
WITH
cell AS (
  SELECT
    period,
    group_key,
    sum(CASE WHEN missed = '' THEN people ELSE 0 END) AS people,
    max(CASE WHEN people < $floor THEN 1 ELSE 0 END) AS is_small
  FROM (
    SELECT
      period,
      group_key,
      missed,
      count(DISTINCT user_id) AS people
    FROM placed_row
    GROUP BY
      period,
      group_key,
      missed
  ) AS counted
  GROUP BY
    period,
    group_key
),
ordered AS (
  SELECT
    period,
    group_key,
    is_small,
    row_number() OVER (PARTITION BY period, is_small ORDER BY people, group_key) AS place,
    max(is_small) OVER (PARTITION BY period) AS has_small
  FROM cell
  WHERE people > 0
)
SELECT
  period,
  group_key
FROM ordered
WHERE is_small = 0
  AND (has_small = 0 OR place > 1)
