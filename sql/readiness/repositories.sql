-- One row is one of the two newest reports of a repository after a position in the order of addresses.
-- Grain: (report_id).
WITH
repositories AS (
  SELECT repo
  FROM readiness_reports
  WHERE org_id = $org_id
    AND repo > $after
  GROUP BY repo
  ORDER BY repo
  LIMIT $limit
),
-- Without the documents, so that those of older reports needn't be read.
newest AS (
  SELECT report_id
  FROM readiness_reports
  WHERE org_id = $org_id
    AND repo IN (SELECT repo FROM repositories)
  QUALIFY row_number() OVER (PARTITION BY repo ORDER BY created_at DESC, report_id DESC) <= 2
)
SELECT
  CAST(repo_id AS VARCHAR) AS repo_id,
  CAST(document AS VARCHAR) AS document
FROM readiness_reports
WHERE org_id = $org_id
  AND report_id IN (SELECT report_id FROM newest)
ORDER BY repo, created_at DESC, report_id DESC
