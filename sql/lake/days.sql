-- One row is one table with rows of one built day of an organization that is in `wanted`. It identifies the table's rows and the day's
-- events. A day whose events have changed since its build is left out, because its tables and its events don't match until the next build.
-- So is a day that other definitions have built, because its rows may have been carried over into other columns.
-- Grain: (org_id, day, table_name).
WITH built_day AS (
  SELECT
    days.org_id AS built_org,
    days.day AS built_day,
    day_inputs.batch AS built_batch,
    day_inputs.definitions AS built_definitions
  FROM days
  JOIN day_inputs
    ON day_inputs.org_id = days.org_id
    AND day_inputs.day = days.day
  WHERE days.org_id IN (SELECT org_id FROM wanted)
    AND days.day BETWEEN $from AND $to
),
newest_arrival AS (
  SELECT
    org_id AS arrival_org,
    day AS arrival_day,
    max(batch) AS newest_batch,
    sum(accepted) AS accepted
  FROM arrivals
  WHERE org_id IN (SELECT org_id FROM wanted)
    AND day BETWEEN $from AND $to
    AND changed > 0
  GROUP BY
    org_id,
    day
),
removed_day AS (
  SELECT
    org_id AS removed_org,
    day AS removed_day,
    removed_at
  FROM removed_days
  WHERE org_id IN (SELECT org_id FROM wanted)
),
day_digest AS (
  SELECT
    org_id AS digest_org,
    day AS digest_day,
    table_name,
    row_count,
    digest
  FROM digests
  WHERE org_id IN (SELECT org_id FROM wanted)
    AND day BETWEEN $from AND $to
    AND row_count > 0
)
SELECT
  CAST(built_day.built_org AS VARCHAR) AS org_id,
  CAST(built_day.built_day AS DATE) AS day,
  CAST(day_digest.table_name AS VARCHAR) AS table_name,
  CAST(day_digest.row_count AS BIGINT) AS row_count,
  CAST(day_digest.digest AS VARCHAR) AS digest,
  CAST(coalesce(newest_arrival.newest_batch, 0) AS BIGINT) AS batch,
  -- Approximate: good enough to know which days are large.
  CAST(coalesce(newest_arrival.accepted, 0) AS BIGINT) AS events,
  CAST(CASE WHEN removed_day.removed_at IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_removed
FROM built_day
JOIN day_digest
  ON day_digest.digest_org = built_day.built_org
  AND day_digest.digest_day = built_day.built_day
LEFT JOIN newest_arrival
  ON newest_arrival.arrival_org = built_day.built_org
  AND newest_arrival.arrival_day = built_day.built_day
LEFT JOIN removed_day
  ON removed_day.removed_org = built_day.built_org
  AND removed_day.removed_day = built_day.built_day
WHERE removed_day.removed_at IS NOT NULL
  OR (
    built_day.built_batch >= coalesce(newest_arrival.newest_batch, 0)
    AND built_day.built_definitions = $definitions
  )
ORDER BY
  org_id,
  day,
  table_name
