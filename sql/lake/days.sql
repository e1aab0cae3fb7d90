-- One row is one table of one built day of an organization, with what tells which rows the table has, and which events the day
-- has. A day whose events have changed since its build is not among them: its tables and its events don't go together until the
-- next build. Neither is a day whose tables are being made anew.
-- Grain: (day, table_name).
WITH
newest_arrival AS (
  SELECT
    day,
    max(batch) AS batch,
    sum(accepted) AS accepted
  FROM arrivals
  WHERE org_id = $org_id
    AND changed > 0
  GROUP BY day
)
SELECT
  CAST(days.day AS DATE) AS day,
  CAST(digests.table_name AS VARCHAR) AS table_name,
  CAST(digests.row_count AS BIGINT) AS row_count,
  CAST(digests.digest AS VARCHAR) AS digest,
  days.built_at AS built_at,
  CAST(coalesce(newest_arrival.batch, 0) AS BIGINT) AS batch,
  batches.settled_at AS settled_at,
  -- About so many: enough to know which days are large.
  CAST(coalesce(newest_arrival.accepted, 0) AS BIGINT) AS events,
  CAST(CASE WHEN removed_days.day IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_removed
FROM days
JOIN day_inputs
  ON day_inputs.org_id = days.org_id
  AND day_inputs.day = days.day
JOIN digests
  ON digests.org_id = days.org_id
  AND digests.day = days.day
LEFT JOIN newest_arrival
  ON newest_arrival.day = days.day
LEFT JOIN batches
  ON batches.batch = newest_arrival.batch
LEFT JOIN removed_days
  ON removed_days.org_id = days.org_id
  AND removed_days.day = days.day
WHERE days.org_id = $org_id
  AND days.day BETWEEN $from AND $to
  AND (removed_days.day IS NOT NULL OR day_inputs.batch >= coalesce(newest_arrival.batch, 0))
ORDER BY
  day,
  table_name
