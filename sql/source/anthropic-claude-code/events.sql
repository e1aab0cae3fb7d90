-- One row is one event of a day of Anthropic's report on Claude Code. docs/vendors.md describes the mapping.
-- Reads lines: a line is one actor with one terminal, as src/vendors/anthropic.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret.
WITH
told AS MATERIALIZED (
  SELECT *
  FROM lines
),
person AS (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    sum(coalesce(core_metrics.commits_by_claude_code, 0)) AS commits,
    sum(coalesce(core_metrics.pull_requests_by_claude_code, 0)) AS pull_requests,
    CAST(sum(core_metrics.lines_of_code.added) AS BIGINT) AS lines_added,
    CAST(sum(core_metrics.lines_of_code.removed) AS BIGINT) AS lines_removed
  FROM told
  GROUP BY
    "day",
    "user"
),
usage AS (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    used.model AS model,
    CAST(sum(used.tokens.input) AS BIGINT) AS input_tokens,
    CAST(sum(used.tokens.output) AS BIGINT) AS output_tokens,
    CAST(sum(used.tokens.cache_read) AS BIGINT) AS cache_read_tokens,
    CAST(sum(used.tokens.cache_creation) AS BIGINT) AS cache_write_tokens,
    -- The amount is in cents.
    sum(CASE WHEN used.estimated_cost.currency = 'USD' THEN CAST(used.estimated_cost.amount AS DECIMAL(18, 6)) END) / 100 AS usd
  FROM (
    SELECT
      *,
      unnest(model_breakdown) AS used
    FROM told
  )
  GROUP BY
    "day",
    "user",
    used.model
),
event AS (
  SELECT
    *,
    'model_usage' AS type,
    'usage:' || md5(concat_ws(' ', "key", model)) AS id,
    round(usd, 9) AS reported_cost_usd
  FROM usage
  WHERE input_tokens + output_tokens + cache_read_tokens + cache_write_tokens > 0
  UNION ALL BY NAME
  SELECT
    *,
    'git_commit' AS type,
    'commit:' || md5("key") || ':' || unnest(range(CAST(least(commits, 1000) AS BIGINT))) AS id
  FROM person
  UNION ALL BY NAME
  SELECT
    *,
    'pull_request' AS type,
    'pull_request:' || md5("key") || ':' || unnest(range(CAST(least(pull_requests, 1000) AS BIGINT))) AS id
  FROM person
  UNION ALL BY NAME
  SELECT
    *,
    'vendor_lines' AS type,
    'lines:' || md5("key") AS id
  FROM person
  WHERE coalesce(lines_added, 0) + coalesce(lines_removed, 0) > 0
)
SELECT
  source,
  NULL AS line_no,
  epoch_ms(CAST("day" AS TIMESTAMP)) AS occurred_ms,
  'anthropic:' || id AS event_id,
  type,
  '' AS session_id,
  "user" AS user_id,
  email AS user_email,
  'claude-code' AS agent,
  'vendor_api' AS channel,
  model,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  reported_cost_usd,
  CASE WHEN type = 'vendor_lines' THEN lines_added END AS lines_added,
  CASE WHEN type = 'vendor_lines' THEN lines_removed END AS lines_removed
FROM event
