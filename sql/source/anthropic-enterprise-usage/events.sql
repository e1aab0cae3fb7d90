-- One row is what one person used of one model with Claude Code on one day, as Anthropic's analytics of an enterprise say it. docs/vendors.md
-- describes the mapping.
-- Reads lines: a line has tokens or a cost, as src/vendors/anthropic-enterprise.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret.
WITH
usage AS (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    coalesce(model, 'unknown') AS model,
    nullif(lower(speed), 'standard') AS speed,
    CAST(coalesce(sum(input), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(output), 0) AS BIGINT) AS output_tokens,
    CAST(coalesce(sum(cache_read), 0) AS BIGINT) AS cache_read_tokens,
    CAST(coalesce(sum(cache_write), 0) AS BIGINT) AS cache_write_tokens,
    CAST(coalesce(sum(cache_write_1h), 0) AS BIGINT) AS cache_write_1h_tokens,
    CAST(coalesce(sum(web_searches), 0) AS BIGINT) AS web_searches,
    sum(CAST(cents AS DECIMAL(18, 6))) AS cents
  FROM lines
  GROUP BY
    "day",
    "user",
    coalesce(model, 'unknown'),
    nullif(lower(speed), 'standard')
)
SELECT
  source,
  NULL AS line_no,
  epoch_ms(CAST("day" AS TIMESTAMP)) AS occurred_ms,
  'anthropic-enterprise:usage:' || md5(concat_ws(' ', "key", model, speed)) AS event_id,
  'model_usage' AS type,
  '' AS session_id,
  "user" AS user_id,
  email AS user_email,
  'claude-code' AS agent,
  'vendor_api' AS channel,
  model,
  speed,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  web_searches,
  round(cents / 100, 9) AS reported_cost_usd
FROM usage
WHERE input_tokens + output_tokens + cache_read_tokens + cache_write_tokens > 0
