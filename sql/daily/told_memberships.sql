-- One row is one team or cost centre that the events of one user on one day tell: the one that most of them tell; of equals the first by
-- name. A department is the team of those who tell no team. Events of nobody tell nothing.
-- Grain: (org_id, day, user_id, kind).
-- Looks back: 0 days.
WITH
telling AS MATERIALIZED (
  SELECT
    org_id,
    day,
    user_id,
    stripped(team) AS team,
    stripped(department) AS department,
    stripped(cost_center) AS cost_center,
    count(*) AS events
  FROM decided_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND (team IS NOT NULL OR department IS NOT NULL OR cost_center IS NOT NULL)
    AND user_id <> 'unknown'
  GROUP BY
    org_id,
    day,
    user_id,
    stripped(team),
    stripped(department),
    stripped(cost_center)
),
told AS (
  SELECT
    org_id,
    day,
    user_id,
    'team' AS kind,
    1 AS place,
    team AS name,
    events
  FROM telling
  WHERE is_group_name(team)
  UNION ALL
  SELECT
    org_id,
    day,
    user_id,
    'team' AS kind,
    2 AS place,
    department AS name,
    events
  FROM telling
  WHERE is_group_name(department)
  UNION ALL
  SELECT
    org_id,
    day,
    user_id,
    'cost_center' AS kind,
    1 AS place,
    cost_center AS name,
    events
  FROM telling
  WHERE is_group_name(cost_center)
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(kind AS VARCHAR) AS kind,
  CAST(name AS VARCHAR) AS name
FROM told
GROUP BY
  org_id,
  day,
  user_id,
  kind,
  place,
  name
QUALIFY row_number() OVER (
  PARTITION BY org_id, day, user_id, kind
  ORDER BY place, sum(events) DESC, name
) = 1
