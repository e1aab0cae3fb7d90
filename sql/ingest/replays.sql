-- One row is one usage of a Claude Code transcript that repeats another usage of its day: its key is the message id alone (from a
-- side chain, or without a request id), and the same message is also stored with its request id.
-- Variables: batch.
WITH
-- The days for which the batch has such usages. Most batches have none and read nothing else.
fresh AS (
  SELECT DISTINCT
    org_id,
    day
  FROM events
  WHERE batch = getvariable('batch')
    AND type = 'model_usage'
    AND agent = 'claude-code'
    AND prefix(event_id, 'usage:')
),
usage AS NOT MATERIALIZED (
  SELECT
    rowid AS row_id,
    org_id,
    day,
    batch,
    user_id,
    user_email,
    -- usage:<message>:<request>; the request can be empty
    left(event_id, length(event_id) - length(split_part(event_id, ':', -1))) AS message_key,
    suffix(event_id, ':') AS is_message_only
  FROM events
  WHERE type = 'model_usage'
    AND agent = 'claude-code'
    AND prefix(event_id, 'usage:')
    AND (org_id, day) IN (SELECT org_id, day FROM fresh)
),
message_only AS (
  SELECT *
  FROM usage
  WHERE is_message_only
)
SELECT
  row_id,
  org_id,
  day,
  batch,
  user_id,
  user_email
FROM message_only
WHERE (org_id, day, message_key) IN (
  SELECT
    org_id,
    day,
    message_key
  FROM usage
  WHERE NOT is_message_only
    AND (org_id, day, message_key) IN (SELECT org_id, day, message_key FROM message_only)
)
