-- One row is one built day whose events can be removed: it is $last or earlier, and was built from everything that arrived for it.
-- Grain: (org_id, day).
WITH
newest_arrival AS (
  SELECT
    org_id,
    day,
    max(batch) AS batch
  FROM arrivals
  WHERE changed > 0
  GROUP BY
    org_id,
    day
)
SELECT
  days.org_id AS org_id,
  days.day AS day
FROM days
LEFT JOIN newest_arrival
  ON newest_arrival.org_id = days.org_id
  AND newest_arrival.day = days.day
WHERE days.day <= $last
  AND days.batch >= coalesce(newest_arrival.batch, 0)
  AND (days.org_id, days.day) NOT IN (SELECT org_id, day FROM removed_days)
ORDER BY
  days.day,
  days.org_id
