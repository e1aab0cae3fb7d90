-- One row is one built day on which fewer than $floor people were active, and the day with which it counts where few people may not be told apart:
-- the last one before it with enough people, else the first one after it.
-- Grain: (day).
WITH built AS (
  SELECT
    day,
    CASE WHEN daily_active_users < $floor THEN 1 ELSE 0 END AS is_quiet
  FROM activity
  WHERE org_id = $org_id
)
SELECT
  CAST(quiet.day AS DATE) AS day,
  CAST(
    coalesce(
      max(CASE WHEN busy.day < quiet.day THEN busy.day END),
      min(CASE WHEN busy.day > quiet.day THEN busy.day END)
    ) AS DATE
  ) AS counted_on
FROM built AS quiet
CROSS JOIN built AS busy
WHERE quiet.is_quiet = 1
  AND busy.is_quiet = 0
GROUP BY quiet.day
ORDER BY quiet.day
