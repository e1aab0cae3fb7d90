-- One row is one language of the files that one user of a page changed on one day.
-- Grain: (user_id, day, language).
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(day AS DATE) AS day,
  CAST(language AS VARCHAR) AS language,
  CAST(sum(files_created + files_edited) AS BIGINT) AS files
FROM user_extensions
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND user_id BETWEEN $first_user_id AND $last_user_id
  AND ($user_id IS NULL OR user_id IN $user_id)
  AND ($team IS NULL AND $cost_center IS NULL OR (user_id, day) IN (SELECT user_id, day FROM placed_user))
  AND language <> ''
GROUP BY
  user_id,
  day,
  language
