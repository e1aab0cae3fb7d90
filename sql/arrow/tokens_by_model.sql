-- One row is one model that was used on a built day.
-- Grain: (date, group_key).
SELECT
  CAST(day AS DATE) AS date,
  CAST(model_id AS VARCHAR) AS group_key,
  CAST(billable_tokens AS BIGINT) AS billable_tokens,
  CAST(input_tokens AS BIGINT) AS input_tokens,
  CAST(output_tokens AS BIGINT) AS output_tokens,
  CAST(cache_read_tokens AS BIGINT) AS cache_read_tokens,
  CAST(cache_write_tokens AS BIGINT) AS cache_write_tokens
FROM report_tokens_by_model
ORDER BY
  date,
  billable_tokens DESC,
  group_key
