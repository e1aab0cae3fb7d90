-- One row is one report after a position in the list, newest first, with the key of its repository.
-- Grain: (report_id).
SELECT
  CAST(report_id AS VARCHAR) AS report_id,
  CAST(created_at AS TIMESTAMP(3)) AS created_at,
  CAST(repo_key AS VARCHAR) AS repo,
  CAST(document AS VARCHAR) AS document
FROM (
  SELECT
    report_id,
    created_at,
    repo_key(repo) AS repo_key,
    document
  FROM readiness_reports
  WHERE org_id = $org_id
) AS report
WHERE ($repo IS NULL OR repo_key IN $repo)
  AND (created_at < instant($before_at) OR (created_at = instant($before_at) AND report_id < $before_id))
ORDER BY created_at DESC, report_id DESC
LIMIT $limit
