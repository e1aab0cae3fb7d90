-- One row is one call of a model in Cursor's usage events. docs/vendors.md describes the mapping.
-- Reads lines: a line is one event, as src/vendors/cursor.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret. Equal events are told apart by their number.
WITH
usage AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY source, "key", "timestamp", model, tokens, cents) AS place
  FROM lines
)
SELECT
  source,
  NULL AS line_no,
  "timestamp" AS occurred_ms,
  'cursor:usage:' || md5(concat_ws(' ', "key", "timestamp", model, CAST(tokens AS VARCHAR), cents, place)) AS event_id,
  'model_usage' AS type,
  '' AS session_id,
  "user" AS user_id,
  email AS user_email,
  'cursor' AS agent,
  'vendor_api' AS channel,
  CASE WHEN isHeadless THEN 'non-interactive-cli' END AS client,
  model,
  tokens.inputTokens AS input_tokens,
  tokens.outputTokens AS output_tokens,
  tokens.cacheReadTokens AS cache_read_tokens,
  tokens.cacheWriteTokens AS cache_write_tokens,
  round(CAST(cents AS DECIMAL(18, 6)) / 100, 9) AS reported_cost_usd
FROM usage
WHERE tokens.inputTokens + tokens.outputTokens + tokens.cacheReadTokens + tokens.cacheWriteTokens > 0
