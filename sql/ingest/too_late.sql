-- One row is one event of the batch for a day whose events are gone. Nothing can tell whether it was among them, so it is
-- taken for a copy of one that was.
-- Variables: org_id, batch.
SELECT
  rowid AS row_id,
  day,
  batch,
  user_id,
  user_email
FROM events
WHERE batch = getvariable('batch')
  AND day IN (SELECT day FROM removed_days WHERE org_id = getvariable('org_id'))
