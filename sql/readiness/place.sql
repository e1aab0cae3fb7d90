-- One row is the position of one repository in the order of addresses.
-- Grain: ().
SELECT
  CAST(repo AS VARCHAR) AS repo
FROM readiness_reports
WHERE org_id = $org_id
  AND repo_id = $repo_id
LIMIT 1
