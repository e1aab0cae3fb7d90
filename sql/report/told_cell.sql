-- One row is one of set_person, in its group if that could have a row of its own, and else in one group of all joined ones. A group can't if it is
-- small, nor can the smallest of the others if one is, so that a total minus the rows gives nobody away.
-- small_cell is small_cell.sql.
-- Grain: (period, is_joined, group_key, set_name, user_id).
SELECT DISTINCT
  period,
  CASE WHEN is_told = 1 THEN 0 ELSE 1 END AS is_joined,
  CASE WHEN is_told = 1 THEN group_key ELSE '' END AS group_key,
  set_name,
  part,
  is_slice,
  is_inside,
  user_id
FROM (
  SELECT
    *,
    CASE WHEN people > 0 AND is_small = 0 AND (has_small = 0 OR place > 1) THEN 1 ELSE 0 END AS is_told
  FROM (
    SELECT
      *,
      max(CASE WHEN people > 0 THEN is_small ELSE 0 END) OVER (PARTITION BY period) AS has_small,
      dense_rank() OVER (
        PARTITION BY
          period,
          is_small,
          CASE WHEN people > 0 THEN 1 ELSE 0 END
        ORDER BY people, group_key
      ) AS place
    FROM small_cell
  ) AS ordered
) AS judged
