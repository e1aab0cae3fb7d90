-- One row is one event of a day of Claude Code in Anthropic's analytics of an enterprise. docs/vendors.md describes the mapping.
-- Reads lines: a line is one person, as src/vendors/anthropic-enterprise.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret.
WITH
person AS MATERIALIZED (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    sum(commits) AS commits,
    sum(pull_requests) AS pull_requests,
    CAST(sum(added) AS BIGINT) AS lines_added,
    CAST(sum(removed) AS BIGINT) AS lines_removed
  FROM lines
  GROUP BY
    "day",
    "user"
),
event AS (
  SELECT
    * EXCLUDE (lines_added, lines_removed),
    'git_commit' AS type,
    'commit:' || unnest(range(CAST(least(commits, 1000) AS BIGINT))) AS id
  FROM person
  UNION ALL BY NAME
  SELECT
    * EXCLUDE (lines_added, lines_removed),
    'pull_request' AS type,
    'pull_request:' || unnest(range(CAST(least(pull_requests, 1000) AS BIGINT))) AS id
  FROM person
  UNION ALL BY NAME
  SELECT
    *,
    'vendor_lines' AS type,
    'lines' AS id
  FROM person
  WHERE lines_added + lines_removed > 0
)
SELECT
  source,
  NULL AS line_no,
  epoch_ms(CAST("day" AS TIMESTAMP)) AS occurred_ms,
  'anthropic-enterprise:' || md5("key") || ':' || id AS event_id,
  type,
  '' AS session_id,
  "user" AS user_id,
  email AS user_email,
  'claude-code' AS agent,
  'vendor_api' AS channel,
  lines_added,
  lines_removed
FROM event
