-- One row is one built day: what has arrived for it so far, and what its build found.
-- Grain: (day).
SELECT
  CAST(day AS DATE) AS day,
  CAST(events AS BIGINT) AS events,
  CAST(accepted AS BIGINT) AS accepted,
  CAST(duplicates AS BIGINT) AS duplicates,
  CAST(rejected AS BIGINT) AS rejected,
  CAST(late AS BIGINT) AS late,
  CAST(parse_artifacts AS BIGINT) AS parse_artifacts,
  CAST(events_without_client AS BIGINT) AS events_without_client,
  CAST(events_without_autonomy_mode AS BIGINT) AS events_without_autonomy_mode,
  CAST(models_not_on_rate_card AS BIGINT) AS models_not_on_rate_card,
  built_at,
  first_built_at
FROM day_quality
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND built_at IS NOT NULL
ORDER BY day
