-- One row is one stored event that the files of a source gave under an earlier mapping and don't give any more.
-- Reads given_events and given_files, which the files of the run gave and are, and other_files: files that were read at some time but not
-- by this run. A session that is named in the path of one of those keeps its events, because it may be that file that gave them. So does a
-- session that neither the run's files nor their paths name.
-- Variables: run, withdrawn_org, withdrawn_source, withdrawn_user.
WITH
missing AS (
  SELECT
    rowid AS row_id,
    org_id,
    day,
    event_id,
    batch,
    session_id
  FROM events
  WHERE org_id = getvariable('withdrawn_org')
    AND user_id = getvariable('withdrawn_user')
    AND channel = 'log'
    AND batch IN (
      SELECT batch
      FROM batches
      WHERE org_id = getvariable('withdrawn_org')
        AND source = getvariable('withdrawn_source')
    )
    AND event_digest(events) NOT IN (SELECT digest FROM given_events WHERE run = getvariable('run'))
),
missing_session AS (
  SELECT DISTINCT session_id
  FROM missing
),
withdrawn_session AS (
  SELECT session_id
  FROM missing_session
  WHERE (
      session_id IN (SELECT session_id FROM given_events WHERE run = getvariable('run'))
      OR EXISTS (SELECT 1 FROM given_files WHERE run = getvariable('run') AND names_session(given_files.path, session_id))
    )
    AND NOT EXISTS (SELECT 1 FROM other_files WHERE names_session(other_files.path, session_id))
)
SELECT
  row_id,
  org_id,
  day,
  event_id,
  batch
FROM missing
WHERE session_id IN (SELECT session_id FROM withdrawn_session)
