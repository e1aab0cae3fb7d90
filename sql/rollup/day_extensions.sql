-- One row is one kind of file on one day: the files of all users.
-- Grain: (org_id, day, extension, language).
SELECT
  org_id,
  day,
  extension,
  language,
  CAST(sum(files_created + files_edited) AS BIGINT) AS files
FROM user_extensions
GROUP BY
  org_id,
  day,
  extension,
  language
