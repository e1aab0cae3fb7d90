-- One row is one team or cost centre that a person's events tell on some days of the range, where the list of people has none of the kind: of
-- the person's active days, all from the first one to the last one. Nobody tells a name that the list or the table of groups has.
-- Grain: (kind, user_id, first_day).
SELECT
  kind,
  user_id,
  min(day) AS first_day,
  max(day) AS last_day,
  name
FROM (
  SELECT
    told.kind AS kind,
    told.user_id AS user_id,
    told.day AS day,
    told.name AS name,
    -- Days that follow each other among those on which the person was active have one difference of the two places.
    active_day.place - row_number() OVER (PARTITION BY told.kind, told.user_id, told.name ORDER BY told.day) AS run
  FROM told_memberships AS told
  JOIN (
    SELECT
      user_id,
      day,
      row_number() OVER (PARTITION BY user_id ORDER BY day) AS place
    FROM (
      SELECT DISTINCT
        user_id,
        day
      FROM coverage
      WHERE org_id = $org_id
        AND day BETWEEN $earliest AND $to
    ) AS reported
  ) AS active_day
    ON active_day.user_id = told.user_id
    AND active_day.day = told.day
  LEFT JOIN (
    SELECT
      kind,
      user_id,
      first_day,
      last_day
    FROM memberships
    WHERE org_id = $org_id
  ) AS listed
    ON listed.kind = told.kind
    AND listed.user_id = told.user_id
    AND listed.first_day <= told.day
    AND listed.last_day >= told.day
  WHERE told.org_id = $org_id
    AND told.day BETWEEN $earliest AND $to
    AND told.kind IN ($team_kind, $cost_center_kind)
    AND (told.kind, told.name) NOT IN (SELECT kind, name FROM memberships WHERE org_id = $org_id)
    AND NOT (told.kind = 'team' AND told.name IN $closed_team)
    AND NOT (told.kind = 'cost_center' AND told.name IN $closed_cost_center)
    AND coalesce(listed.user_id, '') = ''
) AS placed
GROUP BY
  kind,
  user_id,
  name,
  run
