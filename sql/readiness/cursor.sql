-- One row is the position of one report in the list of its organization.
-- Grain: ().
SELECT
  CAST(created_at AS TIMESTAMP(3)) AS created_at
FROM readiness_reports
WHERE org_id = $org_id
  AND report_id = $report_id
