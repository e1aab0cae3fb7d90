-- One row is one day of one organization: how far its numbers can be trusted.
-- Grain: (org_id, day).
-- Looks back: 0 days.
WITH
counted AS (
  SELECT
    org_id,
    day,
    count(*) AS events,
    count(*) FILTER (WHERE type = 'tool_call' AND NOT is_tool_name(tool_name)) AS parse_artifacts,
    count(*) FILTER (WHERE client IS NULL) AS events_without_client,
    count(*) FILTER (WHERE autonomy_mode IS NULL) AS events_without_autonomy_mode,
    count(*) FILTER (WHERE user_id = 'unknown') AS events_without_user
  FROM counted_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
-- A call of a model always has input. Where an agent has written only the output of calls, a part of their tokens is missing.
incomplete AS (
  SELECT
    org_id,
    day,
    count(*) AS incomplete_sessions
  FROM (
    SELECT
      org_id,
      day,
      session_id
    FROM counted_events
    WHERE type = 'model_usage'
      AND (org_id, day) IN (SELECT org_id, day FROM due)
    GROUP BY
      org_id,
      day,
      session_id
    HAVING sum(output_tokens) > 0
      AND sum(input_tokens) + sum(coalesce(cache_read_tokens, 0)) + sum(coalesce(cache_write_tokens, 0)) = 0
  ) AS session
  GROUP BY
    org_id,
    day
),
hidden AS (
  SELECT
    org_id,
    day,
    count(*) AS shadowed
  FROM shadowed_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
unlisted AS (
  SELECT
    org_id,
    day,
    count(DISTINCT model_id) AS models_not_on_rate_card
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND is_on_rate_card = 0
  GROUP BY
    org_id,
    day
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(coalesce(counted.events, 0) AS BIGINT) AS events,
  CAST(coalesce(hidden.shadowed, 0) AS BIGINT) AS shadowed,
  CAST(coalesce(counted.parse_artifacts, 0) AS BIGINT) AS parse_artifacts,
  CAST(coalesce(counted.events_without_client, 0) AS BIGINT) AS events_without_client,
  CAST(coalesce(counted.events_without_autonomy_mode, 0) AS BIGINT) AS events_without_autonomy_mode,
  CAST(coalesce(counted.events_without_user, 0) AS BIGINT) AS events_without_user,
  CAST(coalesce(unlisted.models_not_on_rate_card, 0) AS BIGINT) AS models_not_on_rate_card,
  CAST(coalesce(incomplete.incomplete_sessions, 0) AS BIGINT) AS incomplete_sessions
FROM due
LEFT JOIN counted USING (org_id, day)
LEFT JOIN hidden USING (org_id, day)
LEFT JOIN unlisted USING (org_id, day)
LEFT JOIN incomplete USING (org_id, day)
