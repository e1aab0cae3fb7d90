-- One row is one model that one user used in one ISO week, with all agents. Its day is the last of the week, a Sunday.
-- Grain: (org_id, day, user_id, model_id).
SELECT
  org_id,
  last_of_week(day) AS day,
  user_id,
  model_id,
  CAST(sum(calls) AS BIGINT) AS calls,
  CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
  CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
  CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
  CAST(sum(cache_write_1h_tokens) AS BIGINT) AS cache_write_1h_tokens,
  CAST(sum(billable_tokens) AS BIGINT) AS billable_tokens
FROM user_models
GROUP BY
  org_id,
  last_of_week(day),
  user_id,
  model_id
