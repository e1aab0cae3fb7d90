-- One row is one report after a position in the list, newest first.
-- Grain: (report_id).
SELECT
  CAST(report_id AS VARCHAR) AS report_id,
  CAST(created_at AS TIMESTAMP(3)) AS created_at,
  CAST(document AS VARCHAR) AS document
FROM readiness_reports
WHERE org_id = $org_id
  AND ($repo_id IS NULL OR repo_id IN $repo_id)
  AND (created_at < instant($before_at) OR (created_at = instant($before_at) AND report_id < $before_id))
ORDER BY created_at DESC, report_id DESC
LIMIT $limit
