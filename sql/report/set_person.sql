-- One row is one person in a set of rows by which the answer about a group in a period can differ from another one: all of it (set_name is ''), what
-- it would have more without some of the filters (part has their letters), or one slice of it by a filter. is_inside says that the filters let it in.
-- placed_row is placed_row.sql. filter_set has the sets of filters, and the letters that placed_row has of what only these leave out.
-- Grain: (period, group_key, set_name, user_id).
SELECT DISTINCT
  period,
  0 AS is_joined,
  group_key,
  concat(part, CASE WHEN is_slice = 1 THEN '=' ELSE '' END, value) AS set_name,
  part,
  is_slice,
  is_inside,
  user_id
FROM (
  SELECT
    placed_row.period AS period,
    placed_row.group_key AS group_key,
    filter_set.part AS part,
    filter_set.is_slice AS is_slice,
    CASE
      WHEN filter_set.is_slice = 0 THEN ''
      WHEN filter_set.part = 'a' THEN placed_row.agent
      WHEN filter_set.part = 'c' THEN placed_row.client
      WHEN filter_set.part = 'r' THEN placed_row.repo
      WHEN filter_set.part = 't' THEN placed_row.team
      WHEN filter_set.part = 'o' THEN placed_row.cost_center
      WHEN filter_set.part = 'm' THEN placed_row.model
      WHEN filter_set.part = 'l' THEN placed_row.tool
      ELSE placed_row.mcp_server
    END AS value,
    CASE WHEN placed_row.missed = '' THEN 1 ELSE 0 END AS is_inside,
    placed_row.user_id AS user_id
  FROM placed_row
  JOIN filter_set
    ON filter_set.missed = placed_row.missed
) AS found
