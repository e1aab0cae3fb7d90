-- One row is one event of the batch for a day whose events are removed. Nothing can tell whether it was one of them, so it counts
-- as a copy.
-- Variables: batch.
SELECT
  rowid AS row_id,
  org_id,
  day,
  batch,
  user_id,
  user_email
FROM events
WHERE batch = getvariable('batch')
  AND (org_id, day) IN (SELECT org_id, day FROM removed_days)
