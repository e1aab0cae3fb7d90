-- One row is what one person used of one model with Codex on one day, as OpenAI's analytics of a workspace say it. docs/vendors.md describes
-- the mapping.
-- Reads lines: a line is one person, as src/vendors/openai.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret.
WITH
usage AS (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    used.model AS model,
    nullif(lower(used.speed), 'standard') AS speed,
    CAST(sum(used.uncached_text_input_tokens) AS BIGINT) AS input_tokens,
    CAST(sum(used.cached_text_input_tokens) AS BIGINT) AS cache_read_tokens,
    CAST(sum(used.text_output_tokens) AS BIGINT) AS output_tokens
  FROM (
    SELECT
      *,
      unnest(models) AS used
    FROM lines
  )
  GROUP BY
    "day",
    "user",
    used.model,
    nullif(lower(used.speed), 'standard')
)
SELECT
  source,
  NULL AS line_no,
  epoch_ms(CAST("day" AS TIMESTAMP)) AS occurred_ms,
  'openai:usage:' || md5(concat_ws(' ', "key", model, speed)) AS event_id,
  'model_usage' AS type,
  '' AS session_id,
  "user" AS user_id,
  email AS user_email,
  'codex' AS agent,
  'vendor_api' AS channel,
  model,
  speed,
  coalesce(input_tokens, 0) AS input_tokens,
  coalesce(output_tokens, 0) AS output_tokens,
  coalesce(cache_read_tokens, 0) AS cache_read_tokens
FROM usage
WHERE coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(cache_read_tokens, 0) > 0
