-- One row is one person in one group on one day. group_key is the group of which it has a row: that of others too if few people are in it.
-- is_told is 1 if it could have one alone.
-- placed_row and shown_cell are the files of these names.
-- Grain: (day, found_key, user_id).
SELECT DISTINCT
  placed_row.day AS day,
  placed_row.user_id AS user_id,
  placed_row.group_key AS found_key,
  CASE WHEN $group_by <> 'none' AND shown_cell.group_key IS NULL THEN '(small groups)' ELSE placed_row.group_key END AS group_key,
  CASE WHEN shown_cell.group_key IS NULL THEN 0 ELSE 1 END AS is_told
FROM placed_row
LEFT JOIN shown_cell
  ON shown_cell.period = placed_row.period
  AND shown_cell.group_key = placed_row.group_key
WHERE placed_row.missed = ''
