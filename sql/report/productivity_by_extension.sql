-- One row is one extension of changed files on a built day.
-- Grain: (day, extension).
SELECT
  CAST(day AS DATE) AS day,
  CAST(extension AS VARCHAR) AS extension,
  CAST(sum(files_created + files_edited) AS BIGINT) AS files
FROM user_extensions
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  extension
