-- One row is one built day: the files, commits and pull requests of its agents.
-- Grain: (date).
WITH extensions_of_day AS (
  SELECT
    day,
    list({ 'extension': CAST(extension AS VARCHAR), 'count': CAST(files AS BIGINT) } ORDER BY files DESC, extension) AS by_extension
  FROM report_productivity_by_extension
  GROUP BY day
),
languages_of_day AS (
  SELECT
    day,
    list({ 'language': CAST(language AS VARCHAR), 'count': CAST(files AS BIGINT) } ORDER BY files DESC, language) AS by_language
  FROM report_productivity_by_language
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,
  CAST(files_created AS BIGINT) AS files_created,
  CAST(files_edited AS BIGINT) AS files_edited,
  coalesce(by_extension, []) AS by_extension,
  coalesce(by_language, []) AS by_language,
  CAST(git_commits AS BIGINT) AS git_commits,
  CAST(git_prs_created AS BIGINT) AS git_prs_created
FROM report_productivity
LEFT JOIN extensions_of_day USING (day)
LEFT JOIN languages_of_day USING (day)
ORDER BY date
