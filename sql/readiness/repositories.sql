-- One row is one of the two newest reports of a repository after a position in the order of keys.
-- Grain: (report_id).
WITH
-- Without the documents, so that those of older reports needn't be read.
report AS (
  SELECT
    report_id,
    created_at,
    repo_key(repo) AS repo_key
  FROM readiness_reports
  WHERE org_id = $org_id
),
repositories AS (
  SELECT repo_key
  FROM report
  WHERE repo_key > $after
  GROUP BY repo_key
  ORDER BY repo_key
  LIMIT $limit
),
placed AS (
  SELECT
    report_id,
    repo_key,
    row_number() OVER (PARTITION BY repo_key ORDER BY created_at DESC, report_id DESC) AS place
  FROM report
  WHERE repo_key IN (SELECT repo_key FROM repositories)
),
newest AS (
  SELECT
    report_id,
    repo_key
  FROM placed
  WHERE place <= 2
)
SELECT
  CAST(newest.repo_key AS VARCHAR) AS repo,
  CAST(readiness_reports.document AS VARCHAR) AS document
FROM readiness_reports
JOIN newest
  ON newest.report_id = readiness_reports.report_id
WHERE readiness_reports.org_id = $org_id
ORDER BY newest.repo_key, readiness_reports.created_at DESC, readiness_reports.report_id DESC
