-- One row is one event of a day of Cursor's daily usage. docs/vendors.md describes the mapping.
-- Reads lines: a line is one person, as src/vendors/cursor.ts writes it.
-- An id has the key of the person in it, which is a hash with a secret.
WITH
person AS MATERIALIZED (
  SELECT
    min(source) AS source,
    "day",
    "user",
    min(email) AS email,
    min("key") AS "key",
    sum(prompts) AS prompts,
    CAST(sum(added) AS BIGINT) AS lines_added,
    CAST(sum(deleted) AS BIGINT) AS lines_removed
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
    email,
    "key",
    'user_message' AS type,
    'prompt:' || unnest(range(CAST(least(prompts, 1000) AS BIGINT))) AS id
  FROM person
  UNION ALL BY NAME
  SELECT
    source,
    "day",
    "user",
    email,
    "key",
    'vendor_lines' AS type,
    'lines' AS id,
    lines_added,
    lines_removed
  FROM person
  WHERE coalesce(lines_added, 0) + coalesce(lines_removed, 0) > 0
)
SELECT
  source,
  NULL AS line_no,
  epoch_ms(CAST("day" AS TIMESTAMP)) AS occurred_ms,
  'cursor:' || md5("key") || ':' || id AS event_id,
  type,
  '' AS session_id,
  "user" AS user_id,
  email AS user_email,
  'cursor' AS agent,
  'vendor_api' AS channel,
  lines_added,
  lines_removed
FROM event
