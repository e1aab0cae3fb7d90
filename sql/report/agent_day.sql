-- One row is one agent of one user on one day, with what its channels reported: null where a channel reported nothing.
-- Grain: (user_id, day, agent).
SELECT
  user_id,
  day,
  agent,
  sum(events) AS events,
  sum(shadowed) AS shadowed,
  max(CASE WHEN channel = 'log' THEN tokens END) AS log_tokens,
  -- Channels of telemetry report the same calls.
  max(CASE WHEN channel IN ('otlp_log', 'otlp_span', 'otlp_metric') THEN tokens END) AS otlp_tokens,
  max(CASE WHEN channel = 'log' THEN user_turns END) AS log_turns,
  max(CASE WHEN channel = 'hook' THEN user_turns END) AS hook_turns,
  sum(transcripts_deleted) AS transcripts_deleted
FROM coverage
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
GROUP BY
  user_id,
  day,
  agent
