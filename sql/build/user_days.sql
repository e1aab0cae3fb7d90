-- One row is one day on which the build decides for whom telemetry counts: the due days, and the built ones with telemetry of a session
-- that a due day has or had, because a transcript of one day decides it for all days of its session.
-- Grain: (org_id, day).
WITH
due_session AS (
  SELECT
    org_id,
    session_id
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND (org_id, session_id) IN (SELECT org_id, session_id FROM decided_users)
  UNION
  -- Sessions may have left a due day, if their only events there gave way to other copies.
  SELECT
    org_id,
    session_id
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION
  SELECT
    org_id,
    session_id
  FROM decided_users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
),
-- Of a transcript that didn't count, no day table has the session.
hidden_transcript AS (
  SELECT DISTINCT
    org_id,
    agent
  FROM coverage
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND channel = 'log'
    AND shadowed > 0
)
SELECT
  org_id,
  day
FROM due
UNION
SELECT
  org_id,
  day
FROM decided_users
WHERE (
    (org_id, session_id) IN (SELECT org_id, session_id FROM due_session)
    OR (org_id, agent) IN (SELECT org_id, agent FROM hidden_transcript)
  )
  AND (org_id, day) NOT IN (SELECT org_id, day FROM removed_days)
