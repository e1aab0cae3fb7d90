-- One row is one user of one session's telemetry on one of the days in user_days who is no person, with the user for whom it counts: the
-- only one who has a transcript of the session. A transcript that has none of the calls that the telemetry names isn't one of its session.
-- docs/otlp.md has the rule in words.
-- Reads decided_users, user_sessions and coverage as the last builds left them.
-- Grain: (org_id, day, session_id, agent, channel, named_user_id).
WITH
telemetry AS MATERIALIZED (
  SELECT DISTINCT
    org_id,
    day,
    session_id,
    coalesce(agent, '') AS agent,
    channel,
    user_id
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM user_days)
    AND session_id <> ''
    AND names_no_person(channel, user_id, is_installation)
),
-- The days on which these sessions can have events, so that no other events are read.
session_day AS (
  SELECT org_id, day FROM user_days
  UNION
  SELECT org_id, day FROM user_sessions WHERE (org_id, session_id) IN (SELECT org_id, session_id FROM telemetry)
  UNION
  SELECT org_id, day FROM decided_users WHERE (org_id, session_id) IN (SELECT org_id, session_id FROM telemetry)
  UNION
  -- Of a transcript that doesn't count, no day table has the session.
  SELECT org_id, day FROM coverage WHERE channel = 'log' AND shadowed > 0 AND (org_id, agent) IN (SELECT org_id, agent FROM telemetry)
),
-- The events of a day that was never built don't matter yet: when it is built, the days of its sessions are looked at again.
known_day AS (
  SELECT org_id, day FROM due
  UNION
  SELECT org_id, day FROM days
),
session_event AS MATERIALIZED (
  SELECT DISTINCT
    org_id,
    session_id,
    coalesce(agent, '') AS agent,
    user_id,
    channel = 'log' AS is_transcript,
    CASE WHEN goes_by_request(type, agent, request_id) AND NOT is_session_usage(type, agent) THEN request_id END AS request_id
  FROM events
  WHERE (org_id, session_id) IN (SELECT org_id, session_id FROM telemetry)
    AND (org_id, day) IN (SELECT org_id, day FROM session_day)
    AND (org_id, day) IN (SELECT org_id, day FROM known_day)
    AND (
      channel = 'log' AND user_id <> 'unknown'
      OR names_no_person(channel, user_id, is_installation)
    )
),
transcript AS MATERIALIZED (
  SELECT DISTINCT
    org_id,
    session_id,
    agent,
    user_id
  FROM session_event
  WHERE is_transcript
),
-- Telemetry that names calls, as the transcripts of its agent do.
with_calls AS (
  SELECT DISTINCT
    org_id,
    session_id,
    agent,
    user_id
  FROM session_event
  WHERE NOT is_transcript
    AND request_id IS NOT NULL
),
candidate AS (
  SELECT DISTINCT
    named.org_id AS org_id,
    named.session_id AS session_id,
    named.agent AS agent,
    named.user_id AS named_user_id,
    told.user_id AS user_id
  FROM session_event AS named
  JOIN session_event AS told
    ON told.org_id = named.org_id
    AND told.session_id = named.session_id
    AND told.agent = named.agent
    AND told.request_id = named.request_id
  WHERE NOT named.is_transcript
    AND told.is_transcript
  UNION ALL
  SELECT DISTINCT
    telemetry.org_id AS org_id,
    telemetry.session_id AS session_id,
    telemetry.agent AS agent,
    telemetry.user_id AS named_user_id,
    transcript.user_id AS user_id
  FROM telemetry
  JOIN transcript
    ON transcript.org_id = telemetry.org_id
    AND transcript.session_id = telemetry.session_id
    AND transcript.agent = telemetry.agent
  WHERE (telemetry.org_id, telemetry.session_id, telemetry.agent, telemetry.user_id)
    NOT IN (SELECT org_id, session_id, agent, user_id FROM with_calls)
  UNION ALL
  -- What was decided by a transcript whose events retention has removed.
  SELECT DISTINCT
    org_id,
    session_id,
    agent,
    named_user_id,
    user_id
  FROM decided_users
  WHERE org_id IN (SELECT org_id FROM removed_days)
    AND user_id <> named_user_id
    AND (org_id, session_id, agent) NOT IN (SELECT org_id, session_id, agent FROM transcript)
),
-- Of several users nobody can tell whose the telemetry is.
decided AS (
  SELECT
    org_id,
    session_id,
    agent,
    named_user_id,
    min(user_id) AS user_id
  FROM candidate
  GROUP BY
    org_id,
    session_id,
    agent,
    named_user_id
  HAVING min(user_id) = max(user_id)
)
SELECT
  telemetry.org_id AS org_id,
  telemetry.day AS day,
  telemetry.session_id AS session_id,
  telemetry.agent AS agent,
  telemetry.channel AS channel,
  telemetry.user_id AS named_user_id,
  coalesce(decided.user_id, telemetry.user_id) AS user_id
FROM telemetry
LEFT JOIN decided
  ON decided.org_id = telemetry.org_id
  AND decided.session_id = telemetry.session_id
  AND decided.agent = telemetry.agent
  AND decided.named_user_id = telemetry.user_id
