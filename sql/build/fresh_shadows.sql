-- One row is one event of the days in shadow_days that doesn't count, because a better channel reports the same. On days that aren't
-- due, only the reasons request and session are looked for: the reason channel depends on no other day.
-- docs/quality.md has the rules in words.
-- Reads fresh_users, and shadowed_events and user_sessions as the last builds left them. Grain: (org_id, day, event_id).
WITH
-- The events of a day that was never built don't matter yet: when it is built, the days next to it are looked at again.
known_day AS MATERIALIZED (
  SELECT org_id, day FROM due
  UNION
  SELECT org_id, day FROM days
),
near_day AS MATERIALIZED (
  SELECT org_id, day FROM shadow_days
  UNION ALL
  SELECT org_id, day - 1 AS day FROM shadow_days
  UNION ALL
  SELECT org_id, day + 1 AS day FROM shadow_days
),
-- Usage of a request that another channel may report as well, and the reply to it.
telemetry AS MATERIALIZED (
  SELECT
    org_id,
    day,
    event_id,
    type,
    told_request(type, event_id, request_id) AS request,
    channel_rank(channel) AS channel_rank
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM shadow_days)
    AND type IN ('model_usage', 'assistant_message')
    AND channel IN ('otlp_log', 'otlp_span', 'otlp_metric', 'vendor_api')
    AND told_request(type, event_id, request_id) IS NOT NULL
),
request_day AS (
  SELECT
    org_id,
    day,
    request_id,
    min(channel_rank(channel)) AS best_rank,
    -- A transcript with the usage of a request has the reply too.
    max(CASE WHEN channel = 'log' THEN 1 ELSE 0 END) AS is_logged
  FROM events
  WHERE type = 'model_usage'
    AND (org_id, request_id) IN (SELECT org_id, request FROM telemetry)
    AND (org_id, day) IN (SELECT org_id, day FROM near_day)
    AND (org_id, day) IN (SELECT org_id, day FROM known_day)
  GROUP BY
    org_id,
    day,
    request_id
),
-- A transcript has the time when a call begins, telemetry the time when it ends: midnight can be in between.
same_request AS (
  SELECT
    telemetry.org_id AS org_id,
    telemetry.day AS day,
    telemetry.event_id AS event_id,
    'request' AS reason
  FROM telemetry
  JOIN request_day
    ON request_day.org_id = telemetry.org_id
    AND request_day.request_id = telemetry.request
  WHERE request_day.best_rank < telemetry.channel_rank
    AND (telemetry.type = 'model_usage' OR request_day.is_logged = 1)
    AND request_day.day BETWEEN telemetry.day - 1 AND telemetry.day + 1
),
-- Events of tools have one id in all channels, and some prompts have. A transcript has the time when a tool begins, telemetry the time when
-- it ends, and hooks have both. Few organizations also send such events themselves: only of these are the transcripts compared.
event_sender AS (
  SELECT DISTINCT
    org_id
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM near_day)
    AND goes_by_id(type)
    AND channel = 'event'
),
other_copy AS MATERIALIZED (
  SELECT
    org_id,
    day,
    event_id,
    type,
    tool_rank(type, channel, success) AS tool_rank
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM shadow_days)
    AND goes_by_id(type)
    AND channel IN ('hook', 'otlp_log', 'otlp_span', 'otlp_metric', 'vendor_api')
  UNION ALL
  SELECT
    org_id,
    day,
    event_id,
    type,
    tool_rank(type, channel, success) AS tool_rank
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM shadow_days)
    AND org_id IN (SELECT org_id FROM event_sender)
    AND goes_by_id(type)
    AND channel = 'log'
),
copy_day AS (
  SELECT
    org_id,
    day,
    event_id,
    type,
    tool_rank(type, channel, success) AS tool_rank
  FROM events
  WHERE goes_by_id(type)
    AND (org_id, event_id) IN (SELECT org_id, event_id FROM other_copy)
    AND (org_id, day) IN (SELECT org_id, day FROM near_day)
    AND (org_id, day) IN (SELECT org_id, day FROM known_day)
),
same_id AS (
  SELECT
    other_copy.org_id AS org_id,
    other_copy.day AS day,
    other_copy.event_id AS event_id,
    'request' AS reason
  FROM other_copy
  JOIN copy_day
    ON copy_day.org_id = other_copy.org_id
    AND copy_day.event_id = other_copy.event_id
    AND copy_day.type = other_copy.type
  WHERE copy_day.tool_rank < other_copy.tool_rank
    AND copy_day.day BETWEEN other_copy.day - 1 AND other_copy.day + 1
),
-- Sessions with usage that is compared over the whole session, and the days on which they can have it: no other events are read.
shadow_session AS MATERIALIZED (
  SELECT DISTINCT
    org_id,
    session_id
  FROM events
  WHERE is_session_usage(type, agent)
    AND (org_id, day) IN (SELECT org_id, day FROM shadow_days)
),
session_day AS (
  SELECT org_id, day FROM due
  UNION
  SELECT org_id, day
  FROM user_sessions
  WHERE is_session_usage('model_usage', agent)
    AND (org_id, session_id) IN (SELECT org_id, session_id FROM shadow_session)
  UNION
  SELECT org_id, day FROM shadowed_events WHERE reason <> 'channel' AND org_id IN (SELECT org_id FROM shadow_session)
),
-- A log without requests has the session's total, which comes after spans.
session_usage AS MATERIALIZED (
  SELECT
    org_id,
    day,
    event_id,
    agent,
    compared_session(session_id, user_id) AS session_id,
    channel,
    request_id,
    is_correction(type, event_id) AS is_correction,
    goes_by_request(type, agent, request_id) AS goes_by_request,
    CASE
      WHEN channel = 'log' AND request_id IS NULL THEN channel_rank('otlp_span') + 0.5
      ELSE channel_rank(channel)
    END AS channel_rank
  FROM events
  WHERE is_session_usage(type, agent)
    AND (org_id, session_id) IN (SELECT org_id, session_id FROM shadow_session)
    AND (org_id, day) IN (SELECT org_id, day FROM session_day)
    -- A vendor's report of a day is of no session: see worse_vendor.
    AND NOT (channel = 'vendor_api' AND session_id = '')
),
session_best AS (
  SELECT
    org_id,
    agent,
    session_id,
    min(channel_rank) AS best_rank
  FROM session_usage
  GROUP BY
    org_id,
    agent,
    session_id
),
worse_in_session AS (
  SELECT
    session_usage.org_id AS org_id,
    session_usage.day AS day,
    session_usage.event_id AS event_id,
    'session' AS reason
  FROM session_usage
  JOIN session_best
    ON session_best.org_id = session_usage.org_id
    AND session_best.agent = session_usage.agent
    AND session_best.session_id = session_usage.session_id
  WHERE session_usage.channel_rank > session_best.best_rank
    AND NOT session_usage.goes_by_request
    AND (session_usage.org_id, session_usage.day) IN (SELECT org_id, day FROM shadow_days)
),
-- Cursor tells later which of a session's requests it doesn't bill. Neither these requests nor the news of them count.
unbilled AS (
  SELECT
    org_id,
    day,
    event_id,
    'request' AS reason
  FROM session_usage
  WHERE agent = 'cursor'
    AND channel <> 'hook'
    AND (org_id, request_id) IN (SELECT org_id, request_id FROM session_usage WHERE is_correction)
    AND (org_id, day) IN (SELECT org_id, day FROM shadow_days)
),
-- Most days have one channel, and their events aren't compared.
mixed_day AS MATERIALIZED (
  SELECT
    org_id,
    day
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  HAVING min(channel) <> max(channel)
),
-- The families of events in a session that several channels report. Any event of a session also reports its start and end, and so does
-- usage that is compared over the whole session.
mixed_family AS (
  SELECT
    org_id,
    day,
    agent_name,
    session_id,
    family,
    best_rank
  FROM (
    SELECT
      org_id,
      day,
      coalesce(agent, '') AS agent_name,
      compared_session(session_id, user_id) AS session_id,
      event_family(type) AS family,
      CASE event_family(type)
        WHEN 'sessions'
          THEN min(min(channel_rank(channel))) OVER (PARTITION BY org_id, day, coalesce(agent, ''), compared_session(session_id, user_id))
        ELSE min(channel_rank(channel))
      END AS best_rank,
      max(channel_rank(channel)) AS worst_rank
    FROM events
    WHERE (org_id, day) IN (SELECT org_id, day FROM mixed_day)
    GROUP BY
      org_id,
      day,
      coalesce(agent, ''),
      compared_session(session_id, user_id),
      event_family(type)
  ) AS ranked
  WHERE best_rank < worst_rank
),
worse_channel AS (
  SELECT
    events.org_id AS org_id,
    events.day AS day,
    events.event_id AS event_id,
    'channel' AS reason
  FROM events
  JOIN mixed_family
    ON mixed_family.org_id = events.org_id
    AND mixed_family.day = events.day
    AND mixed_family.agent_name = coalesce(events.agent, '')
    AND mixed_family.session_id = compared_session(events.session_id, events.user_id)
    AND mixed_family.family = event_family(events.type)
  WHERE channel_rank(events.channel) > mixed_family.best_rank
    AND NOT is_session_usage(events.type, events.agent)
    AND NOT goes_by_request(events.type, events.agent, events.request_id)
    -- No hook of Cursor tells a skill.
    AND NOT (events.type = 'skill_use' AND coalesce(events.agent, '') = 'cursor')
),
-- Cursor's metrics of tools name no conversation, and some of its requests have none. Of a person whose hooks tell the same kind on that day
-- they give way, unless it was in the cloud, where nobody's hooks run. Without an address nobody can tell whose they are.
hooked_person AS MATERIALIZED (
  SELECT DISTINCT org_id, day, event_family(type) AS family, user_id AS person
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM mixed_day)
    AND channel = 'hook'
    AND agent = 'cursor'
  UNION
  SELECT DISTINCT org_id, day, event_family(type) AS family, user_email AS person
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM mixed_day)
    AND channel = 'hook'
    AND agent = 'cursor'
    AND user_email IS NOT NULL
),
without_conversation AS (
  SELECT
    org_id,
    day,
    event_id,
    'channel' AS reason
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM mixed_day)
    AND agent = 'cursor'
    AND session_id = ''
    AND channel_rank(channel) > channel_rank('hook')
    AND coalesce(client, '') NOT IN ('cloud-agent', 'bugbot', 'grok-bot')
    AND (
      (org_id, day, event_family(type), user_id) IN (SELECT org_id, day, family, person FROM hooked_person)
      OR (org_id, day, event_family(type), coalesce(user_email, '')) IN (SELECT org_id, day, family, person FROM hooked_person)
      OR user_email IS NULL AND (org_id, day, event_family(type)) IN (SELECT org_id, day, family FROM hooked_person)
    )
),
-- Metrics that name no session are compared with all that better channels report of their user's agent on that day. Cursor's are compared above.
sessionless_metric AS (
  SELECT
    org_id,
    day,
    event_id,
    'channel' AS reason
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM mixed_day)
    AND channel = 'otlp_metric'
    AND session_id = ''
    AND coalesce(agent, '') <> 'cursor'
    AND NOT goes_by_request(type, agent, request_id)
    AND (org_id, day, coalesce(agent, ''), user_id, event_family(type)) IN (
      SELECT
        org_id,
        day,
        coalesce(agent, ''),
        user_id,
        event_family(type)
      FROM events
      WHERE (org_id, day) IN (SELECT org_id, day FROM mixed_day)
        AND channel_rank(channel) < channel_rank('otlp_metric')
        AND event_family(type) <> 'sessions'
    )
),
-- A vendor's report of a day names neither sessions nor requests. It is compared by person, agent and day.
vendor_day AS MATERIALIZED (
  SELECT DISTINCT
    org_id,
    day
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND channel = 'vendor_api'
    AND session_id = ''
),
better_event AS (
  SELECT
    events.org_id AS org_id,
    events.day AS day,
    coalesce(events.agent, '') AS agent_name,
    coalesce(fresh_users.user_id, events.user_id) AS user_id,
    CASE WHEN events.type IN ('model_usage', 'other_usage') THEN 1 ELSE 0 END AS is_usage
  FROM events
  LEFT JOIN fresh_users
    ON fresh_users.org_id = events.org_id
    AND fresh_users.day = events.day
    AND fresh_users.session_id = events.session_id
    AND fresh_users.agent = coalesce(events.agent, '')
    AND fresh_users.channel = events.channel
    AND fresh_users.named_user_id = events.user_id
    AND names_no_person(events.channel, events.user_id, events.is_installation)
  WHERE (events.org_id, events.day) IN (SELECT org_id, day FROM vendor_day)
    AND events.channel <> 'vendor_api'
),
better_day AS (
  SELECT
    better_event.org_id AS org_id,
    better_event.day AS day,
    better_event.agent_name AS agent_name,
    coalesce(aliases.user_id, better_event.user_id) AS user_id,
    max(better_event.is_usage) AS has_usage
  FROM better_event
  LEFT JOIN aliases
    ON aliases.org_id = better_event.org_id
    AND aliases.alias = better_event.user_id
  GROUP BY
    better_event.org_id,
    better_event.day,
    better_event.agent_name,
    coalesce(aliases.user_id, better_event.user_id)
),
worse_vendor AS (
  SELECT
    reported.org_id AS org_id,
    reported.day AS day,
    reported.event_id AS event_id,
    'channel' AS reason
  FROM (
    SELECT
      events.org_id AS org_id,
      events.day AS day,
      events.event_id AS event_id,
      events.type AS type,
      coalesce(events.agent, '') AS agent_name,
      coalesce(aliases.user_id, events.user_id) AS user_id
    FROM events
    LEFT JOIN aliases
      ON aliases.org_id = events.org_id
      AND aliases.alias = events.user_id
    WHERE (events.org_id, events.day) IN (SELECT org_id, day FROM vendor_day)
      AND events.channel = 'vendor_api'
      AND events.session_id = ''
  ) AS reported
  JOIN better_day
    ON better_day.org_id = reported.org_id
    AND better_day.day = reported.day
    AND better_day.agent_name = reported.agent_name
    AND better_day.user_id = reported.user_id
  -- Hooks tell that a person worked, and not how many tokens that took.
  WHERE reported.type <> 'model_usage'
    OR better_day.has_usage = 1
),
-- Events that gave way to events that retention has removed.
remembered AS (
  SELECT
    org_id,
    day,
    event_id,
    reason
  FROM shadowed_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM shadow_days)
    AND (
      reason = 'request' AND (org_id, day - 1) IN (SELECT org_id, day FROM removed_days)
      OR reason = 'request' AND (org_id, day + 1) IN (SELECT org_id, day FROM removed_days)
      OR reason = 'session' AND org_id IN (SELECT org_id FROM removed_days)
    )
)
SELECT
  org_id,
  day,
  event_id,
  min(reason) AS reason
FROM (
  SELECT org_id, day, event_id, reason FROM same_request
  UNION ALL
  SELECT org_id, day, event_id, reason FROM same_id
  UNION ALL
  SELECT org_id, day, event_id, reason FROM worse_in_session
  UNION ALL
  SELECT org_id, day, event_id, reason FROM unbilled
  UNION ALL
  SELECT org_id, day, event_id, reason FROM worse_channel
  UNION ALL
  SELECT org_id, day, event_id, reason FROM without_conversation
  UNION ALL
  SELECT org_id, day, event_id, reason FROM sessionless_metric
  UNION ALL
  SELECT org_id, day, event_id, reason FROM worse_vendor
  UNION ALL
  SELECT org_id, day, event_id, reason FROM remembered
) AS shadow
GROUP BY
  org_id,
  day,
  event_id
