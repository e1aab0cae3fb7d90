-- One row is one MCP server or skill that spreads as of the day $to: its users of the 28 days up to $to are at least twice those of the 28 days
-- before, and at least 10 of them never used it before. How many they were isn't told of fewer than $floor people. Nothing spreads unless all 56 days are behind the first built day.
-- name_use is name_use.sql.
-- Grain: (kind, name).
-- Looks back: 180 days.
WITH
name_user AS (
  SELECT
    kind,
    name,
    user_id,
    min(day) AS first_day,
    max(CASE WHEN day > $to - 28 THEN 1 ELSE 0 END) AS is_user,
    max(CASE WHEN day <= $to - 28 AND day > $to - 56 THEN 1 ELSE 0 END) AS was_user
  FROM name_use
  GROUP BY
    kind,
    name,
    user_id
),
name_spread AS (
  SELECT
    kind,
    name,
    CAST(sum(is_user) AS BIGINT) AS users,
    CAST(sum(was_user) AS BIGINT) AS users_before,
    CAST(sum(CASE WHEN first_day > $to - 28 THEN 1 ELSE 0 END) AS BIGINT) AS new_users,
    min(CASE WHEN first_day > $to - 28 THEN first_day END) AS since
  FROM name_user
  GROUP BY
    kind,
    name
)
SELECT
  CAST(kind AS VARCHAR) AS kind,
  CAST(name AS VARCHAR) AS name,
  CAST(since AS DATE) AS since,
  CAST(users AS BIGINT) AS users,
  CAST(CASE WHEN few_users >= $floor THEN users_before END AS BIGINT) AS users_before,
  CAST(CASE WHEN few_users >= $floor THEN new_users END AS BIGINT) AS new_users
FROM (
  SELECT
    *,
    least(
      CASE WHEN users_before = 0 THEN users ELSE users_before END,
      CASE WHEN users = new_users THEN users ELSE users - new_users END
    ) AS few_users
  FROM name_spread
) AS spread
WHERE users >= greatest(2 * users_before, CAST($floor AS BIGINT))
  AND new_users >= 10
  AND (SELECT min(day) FROM activity WHERE org_id = $org_id) <= $to - 55
ORDER BY
  spread.new_users DESC,
  kind,
  name
