-- One row is what one batch brought for one day of one organization.
-- Reads losers: the copies of this batch and of older ones that were removed from events. Variables: batch.
-- Grain: (batch, org_id, day).
WITH
stands AS (
  SELECT
    org_id,
    day,
    count(*) AS changed
  FROM events
  WHERE batch = getvariable('batch')
  GROUP BY
    org_id,
    day
),
lost AS (
  SELECT
    org_id,
    day,
    count(*) AS copies,
    count(*) FILTER (WHERE batch < getvariable('batch')) AS replaced
  FROM losers
  GROUP BY
    org_id,
    day
)
SELECT
  CAST(getvariable('batch') AS BIGINT) AS batch,
  org_id,
  day,
  CAST(coalesce(stands.changed, 0) - coalesce(lost.replaced, 0) AS BIGINT) AS accepted,
  CAST(coalesce(lost.copies, 0) AS BIGINT) AS duplicates,
  CAST(coalesce(stands.changed, 0) AS BIGINT) AS changed,
  CAST(CASE WHEN day_inputs.day IS NULL THEN 0 ELSE coalesce(stands.changed, 0) END AS BIGINT) AS late
FROM stands
FULL JOIN lost USING (org_id, day)
LEFT JOIN day_inputs USING (org_id, day)
