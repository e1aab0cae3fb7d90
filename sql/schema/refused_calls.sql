-- One row is one tool call that was refused, as hooks show it: they announced the call and never reported its end, but the session went on.
-- A hook or a person blocked it, or nothing permitted it. A call that is still running, or in which the agent was ended, isn't among them:
-- nothing follows it on its day, or only a new start of the session.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW refused_calls AS
SELECT
  call.org_id AS org_id,
  call.day AS day,
  call.event_id AS event_id
FROM events AS call
JOIN events AS later
  ON later.org_id = call.org_id
  AND later.day = call.day
  AND later.user_id = call.user_id
  AND later.session_id = call.session_id
WHERE is_announced_call(call.type, call.channel, call.success)
  AND call.session_id <> ''
  AND later.channel = 'hook'
  AND later.type IN ('user_message', 'session_start', 'session_end')
  AND later.occurred_at > call.occurred_at
GROUP BY
  call.org_id,
  call.day,
  call.event_id
HAVING coalesce(
  min(CASE WHEN later.type <> 'session_start' THEN later.occurred_at END)
    <= min(CASE WHEN later.type = 'session_start' THEN later.occurred_at END),
  min(CASE WHEN later.type <> 'session_start' THEN later.occurred_at END) IS NOT NULL
)
