-- One row is one stored event of a report of a vendor that its days don't give any more.
-- Reads given_events, which the fetched days give. Days that weren't fetched keep their events, and so do people who were erased, whom no
-- day gives any more.
-- Variables: run, withdrawn_org, withdrawn_source, withdrawn_days.
SELECT
  rowid AS row_id,
  org_id,
  day,
  event_id,
  batch
FROM events
WHERE org_id = getvariable('withdrawn_org')
  AND channel = 'vendor_api'
  AND list_contains(getvariable('withdrawn_days'), day)
  AND batch IN (
    SELECT batch
    FROM batches
    WHERE org_id = getvariable('withdrawn_org')
      AND source = getvariable('withdrawn_source')
  )
  AND NOT regexp_full_match(user_id, 'erased-[0-9a-f]{8}(-\d+)?')
  AND event_digest(events) NOT IN (SELECT digest FROM given_events WHERE run = getvariable('run'))
