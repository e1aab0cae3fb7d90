-- One row is what a name of a scope cost on one built day: a team, a person, or '' for the organization. cost_row is costs.sql, grouped by
-- the scope, which has more rows for a group with several models without a price.
-- Grain: (day, name).
SELECT DISTINCT
  place,
  day,
  coalesce(group_key, '') AS name,
  coalesce(cost_usd, CAST(0 AS DECIMAL(38, 12))) AS cost_usd,
  contracted_cost,
  unpriced_tokens
FROM cost_row
