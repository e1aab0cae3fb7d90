-- One row is one team or cost centre, or all people together, with the first day on which it has data: that of its first active person, or
-- with a floor of the person who makes it as many people. Teams and cost centres that are asked for choose people; no other filter does.
-- Requests that don't compare have none of its rows. belongs_to is belongs_to.sql.
-- Grain: (name).
SELECT
  name,
  first_day
FROM (
  SELECT
    name,
    first_day,
    row_number() OVER (PARTITION BY name ORDER BY first_day, user_id) AS place
  FROM (
    SELECT
      CASE $begins_by WHEN 'team' THEN coalesce(team.name, '') WHEN 'cost_center' THEN coalesce(cost_center.name, '') ELSE '' END AS name,
      users.user_id AS user_id,
      min(users.day) AS first_day
    FROM users
    LEFT JOIN belongs_to AS team
      ON team.kind = 'team'
      AND team.user_id = users.user_id
      AND team.first_day <= users.day
      AND team.last_day >= users.day
    LEFT JOIN belongs_to AS cost_center
      ON cost_center.kind = 'cost_center'
      AND cost_center.user_id = users.user_id
      AND cost_center.first_day <= users.day
      AND cost_center.last_day >= users.day
    WHERE users.org_id = $org_id
      AND users.day <= $to
      AND ($team IS NULL OR coalesce(team.name, '') IN $team)
      AND ($cost_center IS NULL OR coalesce(cost_center.name, '') IN $cost_center)
    GROUP BY
      CASE $begins_by WHEN 'team' THEN coalesce(team.name, '') WHEN 'cost_center' THEN coalesce(cost_center.name, '') ELSE '' END,
      users.user_id
  ) AS person
) AS begun
WHERE place = greatest($floor, 1)
