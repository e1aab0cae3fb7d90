-- One row is one id under which reports of a repository are stored, with the key of the repository. An id is of an earlier key if the rule of
-- keys has changed since.
-- Grain: (repo_id).
SELECT DISTINCT
  CAST(repo_id AS VARCHAR) AS repo_id,
  CAST(repo_key(repo) AS VARCHAR) AS repo
FROM readiness_reports
WHERE org_id = $org_id
