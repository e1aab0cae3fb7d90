-- One row is one team in which people are stuck as of the day $to, see stuck_people.sql: how many they are, if they are $floor at least.
-- People whose mark is hidden don't count (mark_hiding.sql).
-- belongs_to is belongs_to.sql.
-- Grain: (team).
SELECT
  CAST(team.name AS VARCHAR) AS team,
  CAST(count(*) AS BIGINT) AS people
FROM stuck_people
JOIN belongs_to AS team
  ON team.kind = 'team'
  AND team.user_id = stuck_people.user_id
  AND team.first_day <= $to
  AND team.last_day >= $to
LEFT JOIN mark_hiding AS hiding
  ON hiding.user_id = stuck_people.user_id
WHERE hiding.user_id IS NULL
  OR hiding.seen_day < stuck_people.since
GROUP BY team.name
HAVING count(*) >= $floor
ORDER BY
  count(*) DESC,
  team.name
