-- One row is one team or cost centre of a person on some days. It has those of requests that ask for teams or cost centres, else none.
-- told_belonging is told_belonging.sql if an owner lets telemetry tell them, else it has none.
-- Grain: (kind, user_id, first_day).
SELECT
  kind,
  user_id,
  first_day,
  last_day,
  name
FROM memberships
WHERE org_id = $org_id
  AND kind IN ($team_kind, $cost_center_kind)
UNION ALL
SELECT
  kind,
  user_id,
  first_day,
  last_day,
  name
FROM told_belonging
