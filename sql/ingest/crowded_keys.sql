-- One row is one key of the batch with more than one copy, in the batch or together with stored events.
-- TRICKY: as the argument of coalesce, IN looks each stored event up among the keys of the batch. As a condition of its own it may be
-- planned the other way round, with all stored events in memory: the engine expects few of them to pass the filters.
-- Variables: batch.
WITH
fresh AS (
  SELECT
    org_id,
    day,
    event_id
  FROM events
  WHERE batch = getvariable('batch')
)
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
  AND is_batch_day(day)
  AND coalesce((org_id, day, event_id) IN (SELECT org_id, day, event_id FROM fresh), FALSE)
