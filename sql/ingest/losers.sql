-- One row is one copy of an event that doesn't stand: of all copies of one (organization, day, event_id) one counts, and
-- which one doesn't depend on the order in which they came. Of a model_usage it is the one with the most output_tokens;
-- then, and for every other type, the earliest, then the smallest session_id, user_id, and the other members in the order
-- of the table's columns, where a known value goes before an unknown one.
-- Variables: batch.
WITH
fresh AS (
  SELECT
    org_id,
    day,
    event_id
  FROM events
  WHERE batch = getvariable('batch')
),
-- The keys of this batch that stand more than once, in the batch or with what was there.
crowded AS (
  SELECT
    org_id,
    day,
    event_id
  FROM fresh
  GROUP BY
    org_id,
    day,
    event_id
  HAVING count(*) > 1
  UNION
  SELECT
    org_id,
    day,
    event_id
  FROM events
  WHERE batch < getvariable('batch')
    AND org_id IN (SELECT org_id FROM batch_files)
    AND day IN (SELECT day FROM fresh)
    AND (org_id, day, event_id) IN (SELECT org_id, day, event_id FROM fresh)
)
SELECT
  row_id,
  org_id,
  day,
  batch,
  user_id,
  user_email
FROM (
  -- Rows compare column by column, and so does a table that has more columns one day. The batch comes last: it is chance.
  SELECT
    *,
    rowid AS row_id,
    row(*COLUMNS(* EXCLUDE (batch))) AS members
  FROM events
  WHERE org_id IN (SELECT org_id FROM crowded)
    AND day IN (SELECT day FROM crowded)
    AND (org_id, day, event_id) IN (SELECT org_id, day, event_id FROM crowded)
) AS copy
QUALIFY row_number() OVER (
  PARTITION BY org_id, day, event_id
  ORDER BY
    CASE WHEN type = 'model_usage' THEN coalesce(output_tokens, 0) END DESC NULLS LAST,
    occurred_at,
    session_id,
    user_id,
    type,
    members,
    batch
) > 1
