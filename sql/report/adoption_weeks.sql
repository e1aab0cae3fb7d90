-- One row is one week of the range in which $floor users at least used an MCP server or skill: how many they were. A week at the ends of the range
-- has only its days in it.
-- name_use is name_use.sql.
-- Grain: (kind, name, week).
SELECT
  CAST(kind AS VARCHAR) AS kind,
  CAST(name AS VARCHAR) AS name,
  CAST(period_of('week', day, day) AS DATE) AS week,
  CAST(count(DISTINCT user_id) AS BIGINT) AS users
FROM name_use
WHERE day >= $from
GROUP BY
  kind,
  name,
  period_of('week', day, day)
HAVING count(DISTINCT user_id) >= $floor
ORDER BY
  kind,
  name,
  week
