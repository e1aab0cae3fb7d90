-- One row is one extension of changed files on a built day.
-- Grain: (day, extension).
SELECT
  CAST(day AS DATE) AS day,
  CAST(extension AS VARCHAR) AS extension,
  CAST(sum(files) AS BIGINT) AS files
FROM day_extensions
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  extension
