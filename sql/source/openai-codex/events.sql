-- One row is what one person used of one model with Codex on one day, or the lines of that day, as OpenAI's analytics of a workspace say it.
-- docs/vendors.md describes the mapping.
-- Reads lines: a line is one person, as src/vendors/openai.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret.
WITH
told AS MATERIALIZED (
  SELECT *
  FROM lines
),
event AS (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    'model_usage' AS type,
    used.model AS model,
    nullif(lower(used.speed), 'standard') AS speed,
    CAST(coalesce(sum(used.uncached_text_input_tokens), 0) AS BIGINT) AS input_tokens,
    CAST(coalesce(sum(used.cached_text_input_tokens), 0) AS BIGINT) AS cache_read_tokens,
    CAST(coalesce(sum(used.text_output_tokens), 0) AS BIGINT) AS output_tokens
  FROM (
    SELECT
      *,
      unnest(models) AS used
    FROM told
  )
  GROUP BY
    "day",
    "user",
    used.model,
    nullif(lower(used.speed), 'standard')
  HAVING input_tokens + output_tokens + cache_read_tokens > 0
  UNION ALL BY NAME
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    'vendor_lines' AS type,
    CAST(sum(lines_of_code.added) AS BIGINT) AS lines_added,
    CAST(sum(lines_of_code.removed) AS BIGINT) AS lines_removed
  FROM told
  GROUP BY
    "day",
    "user"
  HAVING coalesce(lines_added, 0) + coalesce(lines_removed, 0) > 0
)
SELECT
  source,
  NULL AS line_no,
  epoch_ms(CAST("day" AS TIMESTAMP)) AS occurred_ms,
  CASE type
    WHEN 'model_usage' THEN 'openai:usage:' || md5(concat_ws(' ', "key", model, speed))
    ELSE 'openai:lines:' || md5("key")
  END AS event_id,
  type,
  '' AS session_id,
  "user" AS user_id,
  email AS user_email,
  'codex' AS agent,
  'vendor_api' AS channel,
  model,
  speed,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  lines_added,
  lines_removed
FROM event
