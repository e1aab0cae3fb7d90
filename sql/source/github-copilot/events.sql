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
    CAST(sum(cli_output_tokens) AS BIGINT) AS output_tokens,
    CAST(sum(loc_suggested_to_add_sum) AS BIGINT) AS lines_suggested,
    CAST(sum(loc_added_sum) AS BIGINT) AS lines_added,
    CAST(sum(loc_deleted_sum) AS BIGINT) AS lines_removed,
    CAST(sum(cli_loc_suggested_to_add_sum) AS BIGINT) AS cli_lines_suggested,
    CAST(sum(cli_loc_added_sum) AS BIGINT) AS cli_lines_added,
    CAST(sum(cli_loc_deleted_sum) AS BIGINT) AS cli_lines_removed
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
  UNION ALL BY NAME
  SELECT
    source,
    "day",
    "user",
    "key",
    'vendor_lines' AS type,
    'copilot-chat' AS agent,
    'lines' AS id,
    lines_suggested,
    lines_added,
    lines_removed
  FROM person
  WHERE coalesce(lines_suggested, 0) + coalesce(lines_added, 0) + coalesce(lines_removed, 0) > 0
  UNION ALL BY NAME
  SELECT
    source,
    "day",
    "user",
    "key",
    'vendor_lines' AS type,
    'copilot-cli' AS agent,
    'cli_lines' AS id,
    cli_lines_suggested AS lines_suggested,
    cli_lines_added AS lines_added,
    cli_lines_removed AS lines_removed
  FROM person
  WHERE coalesce(cli_lines_suggested, 0) + coalesce(cli_lines_added, 0) + coalesce(cli_lines_removed, 0) > 0
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
  output_tokens,
  lines_suggested,
  lines_added,
  lines_removed
FROM event
