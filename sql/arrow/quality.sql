-- One row is one built day: how far its numbers can be trusted.
-- Grain: (date).
WITH reasons_of_day AS (
  SELECT
    day,
    list({ 'reason': CAST(reason AS VARCHAR), 'count': CAST(lines AS BIGINT) } ORDER BY lines DESC, reason) AS rejected_by_reason
  FROM report_quality_by_reason
  GROUP BY day
),
digests_of_day AS (
  SELECT
    day,
    list(
      { 'table': CAST(table_name AS VARCHAR), 'rows': CAST(row_count AS BIGINT), 'digest': CAST(digest AS VARCHAR) }
      ORDER BY table_name
    ) AS digests
  FROM report_quality_digests
  GROUP BY day
),
restatements_of_day AS (
  SELECT
    day,
    list(
      {
        'built_at': CAST(built_at AS TIMESTAMP_MS),
        'table': CAST(table_name AS VARCHAR),
        'old_digest': CAST(old_digest AS VARCHAR),
        'new_digest': CAST(new_digest AS VARCHAR),
        'reason': CAST(reason AS VARCHAR)
      }
      ORDER BY built_at, table_name
    ) AS restatements
  FROM report_quality_restatements
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,
  CAST(events AS BIGINT) AS events,
  CAST(accepted AS BIGINT) AS accepted,
  CAST(duplicates AS BIGINT) AS duplicates,
  CAST(late AS BIGINT) AS late,
  CAST(rejected AS BIGINT) AS rejected,
  coalesce(rejected_by_reason, []) AS rejected_by_reason,
  CAST(parse_artifacts AS BIGINT) AS parse_artifacts,
  CAST(events_without_client AS BIGINT) AS events_without_client,
  CAST(events_without_autonomy_mode AS BIGINT) AS events_without_autonomy_mode,
  CAST(models_not_on_rate_card AS BIGINT) AS models_not_on_rate_card,
  CAST(built_at AS TIMESTAMP_MS) AS built_at,
  CAST(first_built_at AS TIMESTAMP_MS) AS first_built_at,
  coalesce(digests, []) AS digests,
  coalesce(restatements, []) AS restatements
FROM report_quality
LEFT JOIN reasons_of_day USING (day)
LEFT JOIN digests_of_day USING (day)
LEFT JOIN restatements_of_day USING (day)
ORDER BY date
