-- One row is one group of which a request that may tell no few people apart has a row in a period. The others are joined; if the joined ones
-- are small by themselves, all are.
-- small_joined is small_cell.sql of told_cell.sql.
-- Grain: (period, group_key).
SELECT DISTINCT
  period,
  group_key
FROM (
  SELECT
    period,
    is_joined,
    group_key,
    max(CASE WHEN is_joined = 1 AND people > 0 THEN is_small ELSE 0 END) OVER (PARTITION BY period) AS has_small
  FROM small_joined
) AS cell
WHERE is_joined = 0
  AND has_small = 0
