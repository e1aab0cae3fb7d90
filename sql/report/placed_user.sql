-- One row is one day on which a user of the range belonged to the teams and cost centres of the filters. belongs_to is belongs_to.sql.
-- Grain: (user_id, day).
SELECT DISTINCT
  coverage.user_id AS user_id,
  coverage.day AS day
FROM coverage
LEFT JOIN belongs_to AS team
  ON team.kind = 'team'
  AND team.user_id = coverage.user_id
  AND team.first_day <= coverage.day
  AND team.last_day >= coverage.day
LEFT JOIN belongs_to AS cost_center
  ON cost_center.kind = 'cost_center'
  AND cost_center.user_id = coverage.user_id
  AND cost_center.first_day <= coverage.day
  AND cost_center.last_day >= coverage.day
WHERE coverage.org_id = $org_id
  AND coverage.day BETWEEN $from AND $to
  AND ($team IS NULL OR coalesce(team.name, '') IN $team)
  AND ($cost_center IS NULL OR coalesce(cost_center.name, '') IN $cost_center)
