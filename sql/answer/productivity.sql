-- One row is one built day: the files, commits and pull requests of its agents.
-- Grain: (date).
-- Shown first: date, files_created, files_edited, git_commits, git_prs_created, by_language, by_extension.
WITH extensions_of_day AS (
  SELECT
    day,
    list(
      {
        'extension': CAST(extension AS VARCHAR),  -- file extension, empty if there is none, e.g. .ts
        'count': CAST(files AS BIGINT)  -- number of files, e.g. 31
      }
      ORDER BY files DESC, extension
    ) AS by_extension
  FROM report_productivity_by_extension
  GROUP BY day
),
languages_of_day AS (
  SELECT
    day,
    list(
      {
        'language': CAST(language AS VARCHAR),  -- language of the files, e.g. TypeScript
        'count': CAST(files AS BIGINT)
      }
      ORDER BY files DESC, language
    ) AS by_language
  FROM report_productivity_by_language
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(files_created AS BIGINT) AS files_created,  -- files created by agents, e.g. 7
  CAST(files_edited AS BIGINT) AS files_edited,  -- existing files changed by agents, e.g. 35
  coalesce(by_extension, []) AS by_extension,
  coalesce(by_language, []) AS by_language,
  CAST(git_commits AS BIGINT) AS git_commits,  -- commits made by agents, e.g. 9
  CAST(git_prs_created AS BIGINT) AS git_prs_created  -- pull requests created by agents, e.g. 2
FROM report_productivity
LEFT JOIN extensions_of_day USING (day)
LEFT JOIN languages_of_day USING (day)
ORDER BY date
