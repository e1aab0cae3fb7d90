-- One row is one user who was active in the range, from the cursor on. It returns one user more than the page has.
-- Grain: (user_id).
SELECT
  CAST(user_id AS VARCHAR) AS user_id
FROM users
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND user_id > $cursor
  AND ($user_id IS NULL OR user_id IN $user_id)
  AND ($team IS NULL AND $cost_center IS NULL OR (user_id, day) IN (SELECT user_id, day FROM placed_user))
GROUP BY user_id
ORDER BY user_id
LIMIT $limit + 1
