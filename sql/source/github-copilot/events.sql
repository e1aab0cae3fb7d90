-- One row is one event of a day of GitHub's report on the users of Copilot. docs/vendors.md describes the mapping.
-- Reads lines: a line is one person, as src/vendors/github.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret.
WITH
person AS MATERIALIZED (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min("key") AS "key",
    sum(prompts) AS prompts,
    sum(cli_prompts) AS cli_prompts,
    -- With what was read from a cache.
    CAST(sum(cli_prompt_tokens) AS BIGINT) AS input_tokens,
    CAST(sum(cli_output_tokens) AS BIGINT) AS output_tokens
  FROM lines
  GROUP BY
    "day",
    "user"
),
event AS (
  SELECT
    source,
    "day",
    "user",
    "key",
    'user_message' AS type,
    'copilot-chat' AS agent,
    'prompt:' || unnest(range(CAST(least(prompts, 1000) AS BIGINT))) AS id
  FROM person
  UNION ALL BY NAME
  SELECT
    source,
    "day",
    "user",
    "key",
    'user_message' AS type,
    'copilot-cli' AS agent,
    'cli_prompt:' || unnest(range(CAST(least(cli_prompts, 1000) AS BIGINT))) AS id
  FROM person
  UNION ALL BY NAME
  SELECT
    source,
    "day",
    "user",
    "key",
    'model_usage' AS type,
    'copilot-cli' AS agent,
    'usage' AS id,
    'unknown' AS model,
    input_tokens,
    output_tokens
  FROM person
  WHERE input_tokens + output_tokens > 0
)
SELECT
  source,
  NULL AS line_no,
  epoch_ms(CAST("day" AS TIMESTAMP)) AS occurred_ms,
  'github:' || md5("key") || ':' || id AS event_id,
  type,
  '' AS session_id,
  "user" AS user_id,
  agent,
  'vendor_api' AS channel,
  model,
  input_tokens,
  output_tokens
FROM event
