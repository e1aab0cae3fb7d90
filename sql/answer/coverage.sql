-- One row is one agent of one user of a page on one day: the channels that reported it, and how far they agree.
-- Grain: (user_id, date, agent).
-- Shown first: user_id, date, agent, channels, events, disagreements, token_difference_ratio, turn_difference_ratio, shadowed, transcripts_deleted.
WITH channels_of_agent AS (
  SELECT
    user_id,
    day,
    agent,
    -- list(... ORDER BY ...) is ten times slower here, because there are many users.
    list_transform(
      list_sort(list({ 'place': place, 'channel': used.channel, 'used': used })),
      lambda one: {
        'channel': CAST(one.used.channel AS VARCHAR),  -- the channel, e.g. log
        'events': CAST(one.used.events AS BIGINT),  -- events that are stored, e.g. 120
        'shadowed': CAST(one.used.shadowed AS BIGINT),  -- of them, those that don't count because a better channel reports the same, e.g. 0
        'tokens': CAST(one.used.tokens AS BIGINT),  -- tokens of all kinds, e.g. 128100
        'user_turns': CAST(one.used.user_turns AS BIGINT)  -- messages of the user, e.g. 24
      }
    ) AS channels
  FROM report_coverage_by_channel AS used
  GROUP BY
    user_id,
    day,
    agent
)
SELECT
  CAST(user_id AS VARCHAR) AS user_id,  -- id of the user, e.g. ada
  CAST(user_email AS VARCHAR) AS user_email,  -- newest e-mail address in the user's events, or null, e.g. ada@acme.example
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(agent AS VARCHAR) AS agent,  -- the agent, empty if events name none, e.g. codex
  CAST(events AS BIGINT) AS events,
  CAST(shadowed AS BIGINT) AS shadowed,
  channels AS channels,
  CAST(token_difference_ratio AS DOUBLE) AS token_difference_ratio,  -- difference between the tokens of log and telemetry, as a share of the greater, or null, e.g. 0.002
  CAST(turn_difference_ratio AS DOUBLE) AS turn_difference_ratio,  -- difference between the user turns of log and hooks, as a share of the greater, or null, e.g. 0
  CAST(disagreements AS BIGINT) AS disagreements,  -- how many of the two differences are above 1 %, e.g. 0
  CAST(transcripts_deleted AS BIGINT) AS transcripts_deleted  -- transcripts that the agent says it deleted because they were old: what nobody had read of them is lost, e.g. 0
FROM report_coverage
LEFT JOIN channels_of_agent USING (user_id, day, agent)
ORDER BY
  user_id,
  date,
  agent
