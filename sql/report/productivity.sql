-- One row is one built day: the files, commits and pull requests of its agents.
-- Grain: (day).
SELECT
  CAST(day AS DATE) AS day,
  CAST(files_created AS BIGINT) AS files_created,
  CAST(files_edited AS BIGINT) AS files_edited,
  CAST(git_commits AS BIGINT) AS git_commits,
  CAST(git_prs_created AS BIGINT) AS git_prs_created
FROM productivity
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
ORDER BY day
