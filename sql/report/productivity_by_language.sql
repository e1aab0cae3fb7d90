-- One row is one language of changed files on a built day.
-- Grain: (day, language).
SELECT
  CAST(day AS DATE) AS day,
  CAST(language AS VARCHAR) AS language,
  CAST(sum(files) AS BIGINT) AS files
FROM day_extensions
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND language <> ''
GROUP BY
  day,
  language
