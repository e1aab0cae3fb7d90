-- One row is one kind of file that one agent of one user changed on one day: an extension and a language.
-- Grain: (org_id, day, user_id, extension, language, agent).
-- Looks back: 0 days.
WITH
file AS MATERIALIZED (
  SELECT
    org_id,
    day,
    user_id,
    path,
    agent,
    is_created
  FROM files
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
),
-- The language of a path is that of its file name, else of its extension with two parts such as .blade.php, else with one.
path_language AS (
  SELECT
    kind.path AS path,
    kind.extension AS extension,
    coalesce(by_name.language, by_long_extension.language, by_extension.language, '') AS language
  FROM (
    SELECT DISTINCT
      path,
      file_name(path) AS name,
      extension_of(path) AS extension,
      long_extension_of(path) AS long_extension
    FROM file
  ) AS kind
  LEFT JOIN languages AS by_name
    ON by_name.kind = 'name'
    AND by_name.pattern = kind.name
  LEFT JOIN languages AS by_long_extension
    ON by_long_extension.kind = 'extension'
    AND by_long_extension.pattern = kind.long_extension
  LEFT JOIN languages AS by_extension
    ON by_extension.kind = 'extension'
    AND by_extension.pattern = kind.extension
)
SELECT
  CAST(file.org_id AS VARCHAR) AS org_id,
  CAST(file.day AS DATE) AS day,
  CAST(file.user_id AS VARCHAR) AS user_id,
  CAST(path_language.extension AS VARCHAR) AS extension,
  CAST(path_language.language AS VARCHAR) AS language,
  CAST(file.agent AS VARCHAR) AS agent,
  CAST(sum(file.is_created) AS BIGINT) AS files_created,
  CAST(sum(1 - file.is_created) AS BIGINT) AS files_edited
FROM file
JOIN path_language
  ON path_language.path = file.path
GROUP BY
  file.org_id,
  file.day,
  file.user_id,
  path_language.extension,
  path_language.language,
  file.agent
