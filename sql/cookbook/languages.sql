-- Which languages do agents write?
--
-- One row is one language: the files that agents created and edited in the range, and its share of all of them.
-- A file counts once for each session and day that changed it, however many lines changed. Files of an unknown language are in the row without a name.
-- Grain: (language).
SELECT
  CAST(language AS VARCHAR) AS language,
  CAST(sum(files_created) AS BIGINT) AS files_created,
  CAST(sum(files_edited) AS BIGINT) AS files_edited,
  CAST(round(ratio(sum(files_created + files_edited), sum(sum(files_created + files_edited)) OVER ()), 3) AS DOUBLE) AS file_ratio,
  CAST(count(DISTINCT user_id) AS BIGINT) AS users
FROM user_extensions
WHERE day BETWEEN $from AND $to
GROUP BY language
ORDER BY
  sum(files_created + files_edited) DESC,
  language
