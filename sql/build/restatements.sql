-- One row is one table of a due day whose rows differ from the day's previous build. The reason names what has changed of
-- everything that the table depends on: the definitions, the events, whose they are, for some tables the rate card or the language table.
-- If several have changed, it names all of them, because the rows don't show which one made the difference.
-- Reads digests, day_inputs and touches as the last builds left them, and fresh_digests and fresh_touches.
-- Grain: (org_id, day, table_name).
WITH
present AS (
  SELECT
    max(CASE WHEN name = 'rate_card' THEN value END) AS rate_card,
    max(CASE WHEN name = 'language_table' THEN value END) AS language_table
  FROM facts
),
restated AS MATERIALIZED (
  SELECT
    fresh_digests.org_id AS org_id,
    fresh_digests.day AS day,
    fresh_digests.table_name AS table_name,
    digests.digest AS old_digest,
    fresh_digests.digest AS new_digest
  FROM fresh_digests
  JOIN digests
    ON digests.org_id = fresh_digests.org_id
    AND digests.day = fresh_digests.day
    AND digests.table_name = fresh_digests.table_name
  WHERE digests.digest <> fresh_digests.digest
),
newest_arrival AS (
  SELECT
    org_id,
    day,
    max(batch) AS batch
  FROM arrivals
  WHERE changed > 0
    AND org_id IN (SELECT org_id FROM due)
  GROUP BY
    org_id,
    day
),
-- Days on which events count for other users since the people changed, and those in whose windows such a day is.
renamed_day AS MATERIALIZED (
  SELECT
    day_inputs.org_id AS org_id,
    day_inputs.day AS day,
    max(CASE WHEN renamed_days.day = day_inputs.day THEN 1 ELSE 0 END) AS is_own
  FROM day_inputs
  JOIN renamed_days
    ON renamed_days.org_id = day_inputs.org_id
  WHERE (day_inputs.org_id, day_inputs.day) IN (SELECT org_id, day FROM due)
    AND renamed_days.day BETWEEN day_inputs.day - 29 AND day_inputs.day
    AND renamed_days.revision > coalesce(day_inputs.people_revision, 0)
  GROUP BY
    day_inputs.org_id,
    day_inputs.day
),
-- Days that events have changed since: events of the day itself, of a day in its windows, or events that moved the start of a
-- session or changed what counts. A start can also move because the definition of a session has changed; then that is the reason.
late_arrival AS (
  SELECT
    day_inputs.org_id AS org_id,
    day_inputs.day AS day,
    CASE WHEN newest_arrival.day = day_inputs.day THEN 1 ELSE 0 END AS is_own,
    0 AS is_start
  FROM day_inputs
  JOIN newest_arrival
    ON newest_arrival.org_id = day_inputs.org_id
  WHERE (day_inputs.org_id, day_inputs.day) IN (SELECT org_id, day FROM due)
    AND newest_arrival.day BETWEEN day_inputs.day - 29 AND day_inputs.day
    AND newest_arrival.batch > day_inputs.batch
  UNION ALL
  SELECT
    day_inputs.org_id AS org_id,
    day_inputs.day AS day,
    0 AS is_own,
    1 AS is_start
  FROM day_inputs
  WHERE (day_inputs.org_id, day_inputs.day) IN (SELECT org_id, day FROM touches UNION ALL SELECT org_id, day FROM fresh_touches)
    AND day_inputs.definitions = $definitions
    AND (day_inputs.org_id, day_inputs.day) NOT IN (SELECT org_id, day FROM renamed_day)
),
late_day AS (
  SELECT
    org_id,
    day,
    max(is_own) AS is_own,
    max(is_start) AS is_start
  FROM late_arrival
  GROUP BY
    org_id,
    day
),
caused AS (
  SELECT
    restated.org_id AS org_id,
    restated.day AS day,
    restated.table_name AS table_name,
    restated.old_digest AS old_digest,
    restated.new_digest AS new_digest,
    -- activity depends on windows and on starts of sessions, users, user_agents and session_parts on starts, and every table on what counts, and for whom.
    (CASE
      WHEN late_day.is_own = 1 THEN ', late events'
      WHEN late_day.is_own = 0 AND restated.table_name = 'activity' THEN ', late events'
      WHEN late_day.is_start = 1 AND restated.table_name IN ('session_parts', 'user_agents', 'users') THEN ', late events'
      WHEN late_day.is_start = 1
        AND (restated.org_id, restated.day) IN (SELECT org_id, day FROM restated WHERE table_name IN ('auxiliary_usage', 'decided_users', 'shadowed_events'))
        THEN ', late events'
      ELSE ''
    END)
      || (CASE
        WHEN renamed_day.is_own = 1 OR renamed_day.is_own = 0 AND restated.table_name = 'activity' THEN ', identity'
        ELSE ''
      END)
      || (CASE
        WHEN restated.table_name IN ('session_models', 'user_models', 'user_agents', 'users', 'quality') AND day_inputs.rate_card <> present.rate_card
          THEN ', rate card'
        ELSE ''
      END)
      || (CASE
        WHEN restated.table_name = 'user_extensions' AND day_inputs.language_table <> present.language_table
          THEN ', language table'
        ELSE ''
      END)
      || (CASE WHEN day_inputs.definitions <> $definitions THEN ', definition' ELSE '' END) AS reasons
  FROM restated
  CROSS JOIN present
  JOIN day_inputs
    ON day_inputs.org_id = restated.org_id
    AND day_inputs.day = restated.day
  LEFT JOIN late_day
    ON late_day.org_id = restated.org_id
    AND late_day.day = restated.day
  LEFT JOIN renamed_day
    ON renamed_day.org_id = restated.org_id
    AND renamed_day.day = restated.day
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(table_name AS VARCHAR) AS table_name,
  CAST(old_digest AS VARCHAR) AS old_digest,
  CAST(new_digest AS VARCHAR) AS new_digest,
  instant($built_at) AS built_at,
  -- Nothing else can change rows. If something did, it must show.
  CAST(CASE WHEN reasons = '' THEN 'unexplained' ELSE substring(reasons, 3) END AS VARCHAR) AS reason
FROM caused
