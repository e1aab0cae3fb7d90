-- One row is one agent that used tokens on a built day.
-- Grain: (day, agent).
SELECT
  CAST(day AS DATE) AS day,
  CAST(agent AS VARCHAR) AS agent,
  CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
  CAST(sum(cache_read_tokens) AS BIGINT) AS cache_read_tokens,
  CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
  CAST(sum(billable_tokens) AS BIGINT) AS billable_tokens
FROM user_models
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  day,
  agent
