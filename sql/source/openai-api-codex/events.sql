-- One row is what one person used of one model of Codex on one day with a key of OpenAI's API. docs/vendors.md describes the mapping.
-- Reads lines: a line is one result, as src/vendors/openai-api.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret.
WITH
usage AS (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    model,
    CAST(sum(input) AS BIGINT) AS input_tokens,
    CAST(sum(cached) AS BIGINT) AS cache_read_tokens,
    CAST(sum(output) AS BIGINT) AS output_tokens
  FROM lines
  GROUP BY
    "day",
    "user",
    model
)
SELECT
  source,
  NULL AS line_no,
  epoch_ms(CAST("day" AS TIMESTAMP)) AS occurred_ms,
  'openai-api:usage:' || md5(concat_ws(' ', "key", model)) AS event_id,
  'model_usage' AS type,
  '' AS session_id,
  "user" AS user_id,
  email AS user_email,
  'codex' AS agent,
  'vendor_api' AS channel,
  model,
  input_tokens,
  output_tokens,
  cache_read_tokens
FROM usage
WHERE input_tokens + output_tokens + cache_read_tokens > 0
