-- One row is one usage that repeats another usage of its day: its key is the message alone (from a side chain, or without a request
-- id), and the same message is also stored with its request id.
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
    AND message_key(type, agent, event_id, request_id) IS NOT NULL
),
usage AS NOT MATERIALIZED (
  SELECT
    rowid AS row_id,
    org_id,
    day,
    batch,
    user_id,
    user_email,
    event_id,
    message_key(type, agent, event_id, request_id) AS message_key
  FROM events
  WHERE type = 'model_usage'
    AND message_key IS NOT NULL
    AND is_batch_day(day)
    AND (org_id, day) IN (SELECT org_id, day FROM fresh)
),
message_only AS (
  SELECT *
  FROM usage
  WHERE event_id LIKE '%:'
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
  WHERE event_id NOT LIKE '%:'
    AND (org_id, day, message_key) IN (SELECT org_id, day, message_key FROM message_only)
)
