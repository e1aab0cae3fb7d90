-- The events of batches that count, without replaced copies.
CREATE OR REPLACE VIEW events AS
SELECT *
FROM events_rows
WHERE batch_counts(batch)
  AND (org_id, day, event_id, batch) NOT IN (
    SELECT
      org_id,
      day,
      event_id,
      batch
    FROM removals
    WHERE batch_counts(removed_by)
  )
