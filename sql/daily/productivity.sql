-- One row is one day of one organization: the files, commits and pull requests of its agents.
-- Grain: (org_id, day).
-- Looks back: 0 days.
WITH
person AS (
  SELECT
    org_id,
    day,
    sum(files_created) AS files_created,
    sum(files_edited) AS files_edited,
    sum(git_commits) AS git_commits,
    sum(git_prs_created) AS git_prs_created
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(coalesce(person.files_created, 0) AS BIGINT) AS files_created,
  CAST(coalesce(person.files_edited, 0) AS BIGINT) AS files_edited,
  CAST(coalesce(person.git_commits, 0) AS BIGINT) AS git_commits,
  CAST(coalesce(person.git_prs_created, 0) AS BIGINT) AS git_prs_created
FROM due
LEFT JOIN person USING (org_id, day)
