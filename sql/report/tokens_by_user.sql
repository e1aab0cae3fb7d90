-- One row is one model that one user used on a built day.
-- Grain: (day, user_id, model_id).
SELECT
  CAST(user_models.day AS DATE) AS day,
  CAST(user_models.user_id AS VARCHAR) AS user_id,
  CAST(max(known_emails.user_email) AS VARCHAR) AS user_email,
  CAST(user_models.model_id AS VARCHAR) AS model_id,
  CAST(max(user_models.model_tier) AS VARCHAR) AS model_tier,
  CAST(sum(user_models.input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(user_models.output_tokens) AS BIGINT) AS output_tokens,
  CAST(sum(user_models.cache_read_tokens) AS BIGINT) AS cache_read_tokens,
  CAST(sum(user_models.cache_write_tokens) AS BIGINT) AS cache_write_tokens,
  CAST(sum(user_models.billable_tokens) AS BIGINT) AS billable_tokens,
  CAST(sum(sum(user_models.billable_tokens)) OVER (PARTITION BY user_models.day, user_models.user_id) AS BIGINT) AS user_billable_tokens
FROM user_models
LEFT JOIN known_emails
  ON known_emails.org_id = user_models.org_id
  AND known_emails.user_id = user_models.user_id
WHERE user_models.org_id = $org_id
  AND user_models.day BETWEEN $from AND $to
GROUP BY
  user_models.day,
  user_models.user_id,
  user_models.model_id
