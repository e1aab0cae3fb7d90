-- One row is one of set_person, with the people of its group (0 if the filters let nobody in), and whether a request that may tell no few people
-- apart can't have a row of the group (is_small), because one of its sets is of few people. Where rows are grouped by a filter, few people with one
-- of its values are joined with those of the smallest other value, so each of both makes a group small.
-- set_person is set_person.sql, or told_cell.sql.
-- Grain: that of set_person.
SELECT
  period,
  is_joined,
  group_key,
  set_name,
  part,
  is_slice,
  is_inside,
  user_id,
  max(CASE WHEN set_name = '' THEN people ELSE 0 END) OVER (PARTITION BY period, is_joined, group_key) AS people,
  max(
    CASE
      WHEN is_slice = 0 THEN is_few
      WHEN is_inside = 1 AND (is_few = 1 OR has_few = 1 AND place = 1) THEN 1
      ELSE 0
    END
  ) OVER (PARTITION BY period, is_joined, group_key) AS is_small
FROM (
  SELECT
    *,
    max(is_few) OVER (PARTITION BY period, is_joined, group_key, part, is_slice) AS has_few,
    dense_rank() OVER (PARTITION BY period, is_joined, group_key, part, is_slice, is_few ORDER BY people, set_name) AS place
  FROM (
    SELECT
      *,
      CASE WHEN people < $floor THEN 1 ELSE 0 END AS is_few
    FROM (
      SELECT
        *,
        count(user_id) OVER (PARTITION BY period, is_joined, group_key, set_name) AS people
      FROM set_person
    ) AS counted
  ) AS few
) AS placed
