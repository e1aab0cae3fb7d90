-- One row is one day on which the build looks for events that don't count: the due days, and the built ones on which that can
-- depend on events of a due day. Those are the days next to a due day, because a request can pass midnight, and those with usage
-- that is compared with usage of a due day over their whole session.
-- Grain: (org_id, day).
WITH
due_session AS MATERIALIZED (
  SELECT
    org_id,
    session_id
  FROM events
  WHERE is_session_usage(type, agent)
    AND (org_id, day) IN (SELECT org_id, day FROM due)
  UNION
  -- Sessions may have left a due day, if their only events there gave way to other copies.
  SELECT
    org_id,
    session_id
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND org_id IN (SELECT org_id FROM shadowed_events WHERE reason = 'session')
),
-- The days on which these sessions can have such usage, so that no other events are read. There is always one: DuckDB passes over
-- days only if there is.
session_day AS (
  SELECT org_id, day FROM due
  UNION
  SELECT org_id, day
  FROM user_sessions
  WHERE is_session_usage('model_usage', agent)
    AND (org_id, session_id) IN (SELECT org_id, session_id FROM due_session)
  UNION
  SELECT org_id, day FROM shadowed_events WHERE reason <> 'channel' AND org_id IN (SELECT org_id FROM due_session)
)
SELECT
  org_id,
  day
FROM due
UNION
SELECT
  org_id,
  day
FROM days
WHERE (org_id, day) IN (
    SELECT org_id, day - 1 AS day FROM due
    UNION ALL
    SELECT org_id, day + 1 AS day FROM due
    UNION ALL
    SELECT
      org_id,
      day
    FROM events
    WHERE is_session_usage(type, agent)
      AND (org_id, session_id) IN (SELECT org_id, session_id FROM due_session)
      AND (org_id, day) IN (SELECT org_id, day FROM session_day)
  )
  AND (org_id, day) NOT IN (SELECT org_id, day FROM removed_days)
