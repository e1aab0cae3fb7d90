-- One row is one built day whose events can be removed: it is $last or earlier, and was built from everything that arrived for it. Days after
-- the newest events of an organization are not among them: a clock that was ahead may have built them, and what comes for them must count.
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
),
newest_day AS (
  SELECT
    org_id,
    max(day) AS day
  FROM newest_arrival
  GROUP BY org_id
)
SELECT
  days.org_id AS org_id,
  days.day AS day
FROM days
JOIN newest_day
  ON newest_day.org_id = days.org_id
LEFT JOIN newest_arrival
  ON newest_arrival.org_id = days.org_id
  AND newest_arrival.day = days.day
WHERE days.day <= $last
  AND days.day <= newest_day.day
  AND days.batch >= coalesce(newest_arrival.batch, 0)
  AND (days.org_id, days.day) NOT IN (SELECT org_id, day FROM removed_days)
ORDER BY
  days.day,
  days.org_id
