-- One row is one built day: how far its numbers can be trusted.
-- Grain: (date).
-- Shown first: date, events, rejected, late, duplicates, rejected_by_reason, events_without_user, built_at, accepted.
WITH reasons_of_day AS (
  SELECT
    day,
    list(
      {
        'reason': CAST(reason AS VARCHAR),  -- rule that the lines broke, e.g. missing_member
        'count': CAST(lines AS BIGINT)  -- number of lines, e.g. 1
      }
      ORDER BY lines DESC, reason
    ) AS rejected_by_reason
  FROM report_quality_by_reason
  GROUP BY day
),
digests_of_day AS (
  SELECT
    day,
    list(
      {
        'table': CAST(table_name AS VARCHAR),  -- name of the day table, e.g. users
        'rows': CAST(row_count AS BIGINT),  -- number of its rows, e.g. 12
        'digest': CAST(digest AS VARCHAR)  -- SHA-256 of its rows, e.g. 3333333333333333333333333333333333333333333333333333333333333333
      }
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
        'built_at': CAST(built_at AS TIMESTAMP_MS),  -- time of the build, e.g. 2026-06-08T00:15:04.000Z
        'table': CAST(table_name AS VARCHAR),  -- day table that changed, e.g. users
        'old_digest': CAST(old_digest AS VARCHAR),  -- SHA-256 of its rows before the change, e.g. 1111111111111111111111111111111111111111111111111111111111111111
        'new_digest': CAST(new_digest AS VARCHAR),  -- SHA-256 of its rows after the change, e.g. 3333333333333333333333333333333333333333333333333333333333333333
        'reason': CAST(reason AS VARCHAR)  -- reason, e.g. late events
      }
      ORDER BY built_at, table_name
    ) AS restatements
  FROM report_quality_restatements
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(events AS BIGINT) AS events,  -- events in the numbers of the day, e.g. 1840
  CAST(shadowed AS BIGINT) AS shadowed,  -- events that don't count because a better channel reports the same, e.g. 0
  CAST(accepted AS BIGINT) AS accepted,  -- events accepted for the day so far, e.g. 1840
  CAST(duplicates AS BIGINT) AS duplicates,  -- copies of events that were already stored, e.g. 12
  CAST(late AS BIGINT) AS late,  -- events that arrived after the first build of the day, e.g. 3
  CAST(rejected AS BIGINT) AS rejected,  -- rejected lines, e.g. 1
  coalesce(rejected_by_reason, []) AS rejected_by_reason,
  CAST(mended AS BIGINT) AS mended,  -- lines of agents' files that were no JSON, and of which was taken what could be read, e.g. 0
  CAST(parse_artifacts AS BIGINT) AS parse_artifacts,  -- tool names that are parsing artifacts, e.g. 0
  CAST(events_without_client AS BIGINT) AS events_without_client,  -- events without a client, e.g. 0
  CAST(events_without_autonomy_mode AS BIGINT) AS events_without_autonomy_mode,  -- events without an autonomy mode, e.g. 6
  CAST(events_without_user AS BIGINT) AS events_without_user,  -- events that don't say whose they are, e.g. 0
  CAST(models_not_on_rate_card AS BIGINT) AS models_not_on_rate_card,  -- models that are not on the rate card, e.g. 0
  CAST(incomplete_sessions AS BIGINT) AS incomplete_sessions,  -- sessions of whose calls only the output tokens are known, e.g. 0
  CAST(built_at AS TIMESTAMP_MS) AS built_at,  -- time of the newest build of the day, e.g. 2026-06-08T00:15:04.000Z
  CAST(first_built_at AS TIMESTAMP_MS) AS first_built_at,  -- time of the first build of the day, e.g. 2026-06-08T00:15:04.000Z
  coalesce(digests, []) AS digests,
  coalesce(restatements, []) AS restatements
FROM report_quality
LEFT JOIN reasons_of_day USING (day)
LEFT JOIN digests_of_day USING (day)
LEFT JOIN restatements_of_day USING (day)
ORDER BY date
