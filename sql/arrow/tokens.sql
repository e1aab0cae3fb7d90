-- One row is one built day: its tokens, by model, and by user and model.
-- Grain: (date).
WITH models_of_day AS (
  SELECT
    day,
    list(
      {
        'model_id': CAST(model_id AS VARCHAR),
        'model_tier': CAST(model_tier AS VARCHAR),
        'billable_tokens': CAST(billable_tokens AS BIGINT),
        'input_tokens': CAST(input_tokens AS BIGINT),
        'output_tokens': CAST(output_tokens AS BIGINT),
        'cache_read_tokens': CAST(cache_read_tokens AS BIGINT),
        'cache_write_tokens': CAST(cache_write_tokens AS BIGINT)
      }
      ORDER BY billable_tokens DESC, model_id
    ) AS by_model
  FROM report_tokens_by_model
  GROUP BY day
),
users_on_day AS (
  SELECT
    day,
    user_id,
    any_value(user_email) AS user_email,
    any_value(user_billable_tokens) AS billable_tokens,
    list(
      {
        'model_id': CAST(model_id AS VARCHAR),
        'model_tier': CAST(model_tier AS VARCHAR),
        'billable_tokens': CAST(billable_tokens AS BIGINT),
        'input_tokens': CAST(input_tokens AS BIGINT),
        'output_tokens': CAST(output_tokens AS BIGINT),
        'cache_read_tokens': CAST(cache_read_tokens AS BIGINT),
        'cache_write_tokens': CAST(cache_write_tokens AS BIGINT)
      }
      ORDER BY billable_tokens DESC, model_id
    ) AS by_model
  FROM report_tokens_by_user
  GROUP BY
    day,
    user_id
),
users_of_day AS (
  SELECT
    day,
    list(
      {
        'user_id': CAST(user_id AS VARCHAR),
        'user_email': CAST(user_email AS VARCHAR),
        'billable_tokens': CAST(billable_tokens AS BIGINT),
        'by_model': by_model
      }
      ORDER BY billable_tokens DESC, user_id
    ) AS by_user
  FROM users_on_day
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,
  CAST(billable_tokens AS BIGINT) AS billable_tokens,
  CAST(input_tokens AS BIGINT) AS input_tokens,
  CAST(output_tokens AS BIGINT) AS output_tokens,
  CAST(cache_read_tokens AS BIGINT) AS cache_read_tokens,
  CAST(cache_write_tokens AS BIGINT) AS cache_write_tokens,
  coalesce(by_model, []) AS by_model,
  coalesce(by_user, []) AS by_user
FROM report_tokens
LEFT JOIN models_of_day USING (day)
LEFT JOIN users_of_day USING (day)
ORDER BY date
