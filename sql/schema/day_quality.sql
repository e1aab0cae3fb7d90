-- One row is one day of one organization for which anything came: how it came, beside what the build found (null until then).
-- Grain: (org_id, day).
CREATE OR REPLACE VIEW day_quality AS
SELECT
  org_id,
  day,
  coalesce(arrived.accepted, 0) AS accepted,
  coalesce(arrived.duplicates, 0) AS duplicates,
  coalesce(rejected.rejected, 0) AS rejected,
  coalesce(arrived.late, 0) AS late,
  quality.parse_artifacts AS parse_artifacts,
  quality.events_without_client AS events_without_client,
  quality.events_without_autonomy_mode AS events_without_autonomy_mode,
  quality.models_not_on_rate_card AS models_not_on_rate_card
FROM (
  SELECT
    org_id,
    day,
    sum(accepted) AS accepted,
    sum(duplicates) AS duplicates,
    sum(late) AS late
  FROM arrivals
  GROUP BY
    org_id,
    day
) AS arrived
FULL JOIN (
  SELECT
    org_id,
    day,
    count(*) AS rejected
  FROM rejects
  GROUP BY
    org_id,
    day
) AS rejected USING (org_id, day)
LEFT JOIN quality USING (org_id, day)
