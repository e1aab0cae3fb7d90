-- One row is one built day with its tokens.
-- Grain: (day).
SELECT
  CAST(activity.day AS DATE) AS day,
  CAST(coalesce(sum(user_models.input_tokens), 0) AS BIGINT) AS input_tokens,
  CAST(coalesce(sum(user_models.output_tokens), 0) AS BIGINT) AS output_tokens,
  CAST(coalesce(sum(user_models.cache_read_tokens), 0) AS BIGINT) AS cache_read_tokens,
  CAST(coalesce(sum(user_models.cache_write_tokens), 0) AS BIGINT) AS cache_write_tokens,
  CAST(coalesce(sum(user_models.billable_tokens), 0) AS BIGINT) AS billable_tokens
-- It has one row for each built day, even without usage.
FROM activity
LEFT JOIN user_models
  ON user_models.org_id = activity.org_id
  AND user_models.day = activity.day
WHERE activity.org_id = $org_id
  AND activity.day BETWEEN $from AND $to
GROUP BY activity.day
