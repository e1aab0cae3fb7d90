-- One row is one MCP server or skill that was used in the range; the one with the most users first. New are those who never used it before the
-- range, null if no day before it is built. Kept are the users of a whole week of the range who use it in the next whole one, of all such weeks.
-- Of fewer than $floor people there is no row and no number, and neither if fewer than $floor of all others are left.
-- name_use is name_use.sql.
-- Grain: (kind, name).
WITH
adopter AS (
  SELECT
    kind,
    name,
    user_id,
    min(day) AS first_day
  FROM name_use
  GROUP BY
    kind,
    name,
    user_id
  HAVING max(day) >= $from
),
adopter_week AS (
  SELECT DISTINCT
    kind,
    name,
    user_id,
    period_of('week', day, day) AS week
  FROM name_use
  WHERE day >= $from
),
kept AS (
  SELECT
    one.kind AS kind,
    one.name AS name,
    count(*) AS users,
    count(other.user_id) AS kept_users
  FROM adopter_week AS one
  LEFT JOIN adopter_week AS other
    ON other.kind = one.kind
    AND other.name = one.name
    AND other.user_id = one.user_id
    AND other.week = one.week + 7
  WHERE one.week >= $from
    AND one.week + 13 <= $to
  GROUP BY
    one.kind,
    one.name
),
adopted AS (
  SELECT
    kind,
    name,
    count(*) AS users,
    sum(CASE WHEN first_day >= $from THEN 1 ELSE 0 END) AS new_users
  FROM adopter
  GROUP BY
    kind,
    name
),
active AS (
  SELECT
    count(DISTINCT user_id) AS people,
    (SELECT min(day) FROM activity WHERE org_id = $org_id AND day >= $earliest) AS first_day
  FROM users
  WHERE org_id = $org_id
    AND day BETWEEN $from AND $to
)
SELECT
  CAST(adopted.kind AS VARCHAR) AS kind,
  CAST(adopted.name AS VARCHAR) AS name,
  CAST(adopted.users AS BIGINT) AS users,
  CAST(ratio(adopted.users, active.people) AS DOUBLE) AS active_ratio,
  CAST(
    CASE
      WHEN active.first_day < $from
        AND (adopted.new_users = 0 OR adopted.new_users >= $floor)
        AND (adopted.new_users = adopted.users OR adopted.users - adopted.new_users >= $floor)
        THEN adopted.new_users
    END AS BIGINT
  ) AS new_users,
  CAST(
    CASE
      WHEN (kept.kept_users = 0 OR kept.kept_users >= $floor)
        AND (kept.kept_users = kept.users OR kept.users - kept.kept_users >= $floor)
        THEN share_of(kept.kept_users, kept.users)
    END AS DOUBLE
  ) AS kept_ratio
FROM adopted
CROSS JOIN active
LEFT JOIN kept
  ON kept.kind = adopted.kind
  AND kept.name = adopted.name
WHERE adopted.users >= $floor
  AND (active.people = adopted.users OR active.people - adopted.users >= $floor)
ORDER BY
  adopted.users DESC,
  adopted.kind,
  adopted.name
LIMIT $limit
