-- One row is one day of one organization that has lines or is built: what has arrived for it so far, and what its build found
-- (null if it isn't built).
-- Grain: (org_id, day).
CREATE OR REPLACE VIEW day_quality AS
SELECT
  arrived.org_id AS org_id,
  arrived.day AS day,
  arrived.accepted AS accepted,      -- events that are stored
  arrived.duplicates AS duplicates,  -- copies of events that were already there
  arrived.rejected AS rejected,      -- lines that broke a rule
  arrived.mended AS mended,          -- lines of agents' files that were no JSON, and of which was taken what could be read
  arrived.late AS late,              -- events that arrived after the first build of the day
  quality.events AS events,          -- events that the build counted
  quality.shadowed AS shadowed,      -- events that it left out, because a better channel reports the same
  quality.parse_artifacts AS parse_artifacts,
  quality.events_without_client AS events_without_client,
  quality.events_without_autonomy_mode AS events_without_autonomy_mode,
  quality.events_without_user AS events_without_user,
  quality.models_not_on_rate_card AS models_not_on_rate_card,
  quality.incomplete_sessions AS incomplete_sessions,
  days.built_at AS built_at,
  days.first_built_at AS first_built_at
FROM (
  SELECT
    org_id,
    day,
    CAST(sum(accepted) AS BIGINT) AS accepted,
    CAST(sum(duplicates) AS BIGINT) AS duplicates,
    CAST(sum(rejected) AS BIGINT) AS rejected,
    CAST(sum(mended) AS BIGINT) AS mended,
    CAST(sum(late) AS BIGINT) AS late
  FROM (
    SELECT
      org_id,
      day,
      accepted,
      duplicates,
      CAST(0 AS BIGINT) AS rejected,
      CAST(0 AS BIGINT) AS mended,
      late
    FROM arrivals
    UNION ALL
    SELECT
      org_id,
      day,
      CAST(0 AS BIGINT) AS accepted,
      CAST(0 AS BIGINT) AS duplicates,
      CAST(1 AS BIGINT) AS rejected,
      CAST(0 AS BIGINT) AS mended,
      CAST(0 AS BIGINT) AS late
    FROM rejects
    UNION ALL
    SELECT
      org_id,
      day,
      CAST(0 AS BIGINT) AS accepted,
      CAST(0 AS BIGINT) AS duplicates,
      CAST(0 AS BIGINT) AS rejected,
      CAST(1 AS BIGINT) AS mended,
      CAST(0 AS BIGINT) AS late
    FROM mended_lines
    UNION ALL
    SELECT
      org_id,
      day,
      CAST(0 AS BIGINT) AS accepted,
      CAST(0 AS BIGINT) AS duplicates,
      CAST(0 AS BIGINT) AS rejected,
      CAST(0 AS BIGINT) AS mended,
      CAST(0 AS BIGINT) AS late
    FROM days
  ) AS arrival
  GROUP BY
    org_id,
    day
) AS arrived
LEFT JOIN quality
  ON quality.org_id = arrived.org_id
  AND quality.day = arrived.day
LEFT JOIN days
  ON days.org_id = arrived.org_id
  AND days.day = arrived.day
