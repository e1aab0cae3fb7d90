-- One row is one built day whose events can be removed: it is $last or earlier, and nothing has come since it was built that would change it.
-- Days after the newest events of an organization are not among them: a clock that was ahead may have built them, and what comes for them
-- must count.
-- Grain: (org_id, day).
WITH
built AS MATERIALIZED (
  SELECT
    org_id,
    day,
    batch
  FROM days
  WHERE day <= $last
    AND (org_id, day) NOT IN (SELECT org_id, day FROM removed_days)
),
newest_arrival AS MATERIALIZED (
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
),
-- Events that arrive for a day change the trailing windows of the 29 days after it.
late AS (
  SELECT
    built.org_id AS org_id,
    built.day AS day
  FROM built
  JOIN newest_arrival
    ON newest_arrival.org_id = built.org_id
  WHERE newest_arrival.day BETWEEN built.day - 29 AND built.day
    AND newest_arrival.batch > built.batch
)
SELECT
  built.org_id AS org_id,
  built.day AS day
FROM built
JOIN newest_day
  ON newest_day.org_id = built.org_id
WHERE built.day <= newest_day.day
  AND (built.org_id, built.day) NOT IN (SELECT org_id, day FROM late)
ORDER BY
  built.day,
  built.org_id
