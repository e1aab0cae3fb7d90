-- The events of batches that count, without replaced copies.
CREATE OR REPLACE VIEW events AS
SELECT *
FROM events_rows
WHERE batch <= (SELECT max(batch) FROM batches_rows)
  AND batch NOT IN (SELECT number FROM abandoned WHERE kind = 'batch')
  AND (org_id, day, event_id, batch) NOT IN (
    SELECT
      org_id,
      day,
      event_id,
      batch
    FROM removals
    WHERE removed_by <= (SELECT max(batch) FROM batches_rows)
      AND removed_by NOT IN (SELECT number FROM abandoned WHERE kind = 'batch')
  )
