-- One row is one model on one day: what all users used of it with one agent, on one client and in one repository.
-- Grain: (org_id, day, model_id, agent, client, repo).
SELECT
  org_id,
  day,
  model_id,
  agent,
  client,
  repo,
  CAST(sum(calls) AS BIGINT) AS calls,
  CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
  CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
  CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
  CAST(sum(cache_write_1h_tokens) AS BIGINT) AS cache_write_1h_tokens,
  CAST(sum(billable_tokens) AS BIGINT) AS billable_tokens
FROM session_models
GROUP BY
  org_id,
  day,
  model_id,
  agent,
  client,
  repo
