-- One row is one channel that reported one agent of one user on one day.
-- Grain: (org_id, day, user_id, agent, channel).
-- Looks back: 0 days.
WITH
reported AS (
  SELECT
    org_id,
    day,
    user_id,
    coalesce(agent, '') AS agent,
    channel,
    count(*) AS events,
    sum(
      CASE
        WHEN type = 'model_usage'
          THEN coalesce(input_tokens, 0)
            + coalesce(output_tokens, 0)
            + coalesce(cache_read_tokens, 0)
            + coalesce(cache_write_tokens, 0)
        ELSE 0
      END
    ) AS tokens,
    count(*) FILTER (WHERE type = 'user_message') AS user_turns,
    count(*) FILTER (WHERE type = 'model_usage' AND reported_cost_usd IS NOT NULL) AS costed_calls,
    sum(CASE WHEN type = 'model_usage' THEN reported_cost_usd END) AS reported_cost_usd,
    sum(CASE WHEN type = 'retention_sweep' THEN coalesce(transcripts_deleted, 0) ELSE 0 END) AS transcripts_deleted
  FROM decided_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    coalesce(agent, ''),
    channel
),
hidden AS (
  SELECT
    decided_events.org_id AS org_id,
    decided_events.day AS day,
    decided_events.user_id AS user_id,
    coalesce(decided_events.agent, '') AS agent,
    decided_events.channel AS channel,
    count(*) AS shadowed
  FROM decided_events
  JOIN shadowed_events
    ON shadowed_events.org_id = decided_events.org_id
    AND shadowed_events.day = decided_events.day
    AND shadowed_events.event_id = decided_events.event_id
  WHERE (decided_events.org_id, decided_events.day) IN (SELECT org_id, day FROM due)
  GROUP BY
    decided_events.org_id,
    decided_events.day,
    decided_events.user_id,
    coalesce(decided_events.agent, ''),
    decided_events.channel
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(agent AS VARCHAR) AS agent,
  CAST(channel AS VARCHAR) AS channel,
  CAST(reported.events AS BIGINT) AS events,
  CAST(coalesce(hidden.shadowed, 0) AS BIGINT) AS shadowed,
  CAST(reported.tokens AS BIGINT) AS tokens,
  CAST(reported.user_turns AS BIGINT) AS user_turns,
  CAST(reported.costed_calls AS BIGINT) AS costed_calls,
  CAST(coalesce(reported.reported_cost_usd, 0) AS DECIMAL(18, 9)) AS reported_cost_usd,
  CAST(reported.transcripts_deleted AS BIGINT) AS transcripts_deleted
FROM reported
LEFT JOIN hidden USING (org_id, day, user_id, agent, channel)
