-- One row is one table with rows of one built day of an organization. It identifies the table's rows and the day's events. A day
-- whose events have changed since its build is left out, because its tables and its events don't match until the next build. So is
-- a day that other definitions have built, because its rows may have been carried over into other columns.
-- A day is quiet if neither it nor a day in its trailing windows ever had an event: its rows are all zeros.
-- Grain: (day, table_name).
WITH
built_day AS (
  SELECT
    days.day AS built_day,
    days.built_at AS built_at,
    day_inputs.batch AS built_batch,
    day_inputs.definitions AS built_definitions
  FROM days
  JOIN day_inputs
    ON day_inputs.org_id = days.org_id
    AND day_inputs.day = days.day
  WHERE days.org_id = $org_id
    AND days.day BETWEEN $from AND $to
),
newest_arrival AS (
  SELECT
    day AS arrival_day,
    max(batch) AS newest_batch,
    sum(accepted) AS accepted
  FROM arrivals
  WHERE org_id = $org_id
    AND changed > 0
  GROUP BY day
),
newest_batch AS (
  SELECT
    newest_arrival.arrival_day AS arrival_day,
    newest_arrival.newest_batch AS newest_batch,
    newest_arrival.accepted AS accepted,
    batches.settled_at AS settled_at
  FROM newest_arrival
  JOIN batches
    ON batches.org_id = $org_id
    AND batches.batch = newest_arrival.newest_batch
),
-- The days whose trailing windows include a day with events.
reached_day AS (
  SELECT DISTINCT newest_arrival.arrival_day + CAST(trailing_days.days_back AS INTEGER) AS reached_day
  FROM newest_arrival
  CROSS JOIN trailing_days
),
removed_day AS (
  SELECT
    day AS removed_day,
    removed_at
  FROM removed_days
  WHERE org_id = $org_id
),
day_digest AS (
  SELECT
    day AS digest_day,
    table_name,
    row_count,
    digest
  FROM digests
  WHERE org_id = $org_id
    AND row_count > 0
)
SELECT
  CAST(built_day.built_day AS DATE) AS day,
  CAST(day_digest.table_name AS VARCHAR) AS table_name,
  CAST(day_digest.row_count AS BIGINT) AS row_count,
  CAST(day_digest.digest AS VARCHAR) AS digest,
  built_day.built_at AS built_at,
  CAST(coalesce(newest_batch.newest_batch, 0) AS BIGINT) AS batch,
  newest_batch.settled_at AS settled_at,
  -- Approximate: good enough to know which days are large.
  CAST(coalesce(newest_batch.accepted, 0) AS BIGINT) AS events,
  CAST(CASE WHEN removed_day.removed_at IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_removed,
  CAST(CASE WHEN reached_day.reached_day IS NULL THEN 1 ELSE 0 END AS BIGINT) AS is_quiet
FROM built_day
JOIN day_digest
  ON day_digest.digest_day = built_day.built_day
LEFT JOIN newest_batch
  ON newest_batch.arrival_day = built_day.built_day
LEFT JOIN reached_day
  ON reached_day.reached_day = built_day.built_day
LEFT JOIN removed_day
  ON removed_day.removed_day = built_day.built_day
WHERE removed_day.removed_at IS NOT NULL
  OR (
    built_day.built_batch >= coalesce(newest_batch.newest_batch, 0)
    AND built_day.built_definitions IN (SELECT value FROM facts WHERE name = 'definitions')
  )
ORDER BY
  day,
  table_name
