-- One row is one model of a session on one day with usage that its transcript states beyond its answers: the part of it that no other
-- event that counts has told. docs/quality.md has the rule in words.
-- Reads fresh_shadows, and shadowed_events and auxiliary_usage as the last builds left them. Grain: (org_id, day, event_id).
WITH
-- The due days, and the built ones with runs that began before they ended, on a due day or before it.
wanted_day AS MATERIALIZED (
  SELECT org_id, day FROM due
  UNION
  SELECT
    auxiliary_usage.org_id AS org_id,
    auxiliary_usage.day AS day
  FROM auxiliary_usage
  JOIN due
    ON due.org_id = auxiliary_usage.org_id
  WHERE due.day BETWEEN auxiliary_usage.first_day AND auxiliary_usage.day
    AND (auxiliary_usage.org_id, auxiliary_usage.day) NOT IN (SELECT org_id, day FROM removed_days)
),
-- A run that took longer than a week states nothing: it would need the events of more days.
statement AS MATERIALIZED (
  SELECT
    org_id,
    day,
    event_id,
    session_id,
    coalesce(agent, '') AS agent,
    occurred_at,
    coalesce(duration_ms, 0) AS duration_ms,
    day + CAST(floor((date_diff('millisecond', CAST(day AS TIMESTAMP(3)), occurred_at) - coalesce(duration_ms, 0)) / 86400000.0) AS INTEGER) AS first_day,
    model,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    web_searches
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM wanted_day)
    AND type = 'other_usage'
    AND session_id <> ''
    AND coalesce(duration_ms, 0) BETWEEN 0 AND 7 * 86400000 - 1
),
run AS MATERIALIZED (
  SELECT
    org_id,
    day,
    session_id,
    agent,
    occurred_at,
    max(duration_ms) AS duration_ms,
    min(first_day) AS first_day
  FROM statement
  GROUP BY
    org_id,
    day,
    session_id,
    agent,
    occurred_at
),
run_day AS MATERIALIZED (
  SELECT DISTINCT
    run.org_id AS org_id,
    run.day - back.days AS day
  FROM run
  CROSS JOIN (
    SELECT 0 AS days
    UNION ALL SELECT 1 AS days
    UNION ALL SELECT 2 AS days
    UNION ALL SELECT 3 AS days
    UNION ALL SELECT 4 AS days
    UNION ALL SELECT 5 AS days
    UNION ALL SELECT 6 AS days
    UNION ALL SELECT 7 AS days
  ) AS back
  WHERE run.day - back.days >= run.first_day
),
hidden AS (
  SELECT org_id, day, event_id FROM fresh_shadows WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  UNION ALL
  SELECT org_id, day, event_id
  FROM shadowed_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM run_day)
    AND (org_id, day) NOT IN (SELECT org_id, day FROM due)
),
-- Usage that counts and that isn't an answer of the transcript itself: of sub-agents, whose transcripts are files of their own, and
-- what other channels tell. It can be in no session, if telemetry doesn't name it.
told AS MATERIALIZED (
  SELECT
    org_id,
    day,
    session_id,
    coalesce(agent, '') AS agent,
    event_id,
    occurred_at,
    coalesce(requested_model, model) AS model,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    web_searches
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM run_day)
    AND type = 'model_usage'
    AND (channel <> 'log' OR agent_id IS NOT NULL)
    AND (session_id = '' OR (org_id, session_id) IN (SELECT org_id, session_id FROM run))
    AND (org_id, day, event_id) NOT IN (SELECT org_id, day, event_id FROM hidden)
),
-- The last batch of telemetry comes shortly after a run has ended.
told_in_run AS (
  SELECT DISTINCT
    run.org_id AS org_id,
    run.day AS day,
    run.session_id AS session_id,
    run.agent AS agent,
    told.day AS told_day,
    told.event_id AS event_id
  FROM told
  JOIN run
    ON run.org_id = told.org_id
    AND run.session_id = told.session_id
    AND run.agent = told.agent
  WHERE date_diff('millisecond', told.occurred_at, run.occurred_at) BETWEEN -10000 AND run.duration_ms
    AND told.day <= run.day
  UNION ALL
  SELECT DISTINCT
    run.org_id AS org_id,
    run.day AS day,
    run.session_id AS session_id,
    run.agent AS agent,
    told.day AS told_day,
    told.event_id AS event_id
  FROM told
  JOIN run
    ON run.org_id = told.org_id
    AND run.agent = told.agent
  WHERE told.session_id = ''
    AND date_diff('millisecond', told.occurred_at, run.occurred_at) BETWEEN -10000 AND run.duration_ms
    AND told.day <= run.day
),
counter AS (
  SELECT
    org_id,
    day,
    session_id,
    agent,
    model,
    occurred_at,
    first_day,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    web_searches
  FROM statement
  UNION ALL
  SELECT
    told_in_run.org_id AS org_id,
    told_in_run.day AS day,
    told_in_run.session_id AS session_id,
    told_in_run.agent AS agent,
    told.model AS model,
    NULL AS occurred_at,
    NULL AS first_day,
    -coalesce(told.input_tokens, 0) AS input_tokens,
    -coalesce(told.output_tokens, 0) AS output_tokens,
    -coalesce(told.cache_read_tokens, 0) AS cache_read_tokens,
    -coalesce(told.cache_write_tokens, 0) AS cache_write_tokens,
    -coalesce(told.cache_write_1h_tokens, 0) AS cache_write_1h_tokens,
    -coalesce(told.web_searches, 0) AS web_searches
  FROM told_in_run
  JOIN told
    ON told.org_id = told_in_run.org_id
    AND told.day = told_in_run.told_day
    AND told.event_id = told_in_run.event_id
),
model_rest AS (
  SELECT
    org_id,
    day,
    session_id,
    agent,
    model,
    max(occurred_at) AS occurred_at,
    min(first_day) AS first_day,
    sum(coalesce(input_tokens, 0)) AS input_tokens,
    sum(coalesce(output_tokens, 0)) AS output_tokens,
    sum(coalesce(cache_read_tokens, 0)) AS cache_read_tokens,
    sum(coalesce(cache_write_tokens, 0)) AS cache_write_tokens,
    sum(coalesce(cache_write_1h_tokens, 0)) AS cache_write_1h_tokens,
    sum(coalesce(web_searches, 0)) AS web_searches
  FROM counter
  GROUP BY
    org_id,
    day,
    session_id,
    agent,
    model
),
-- Telemetry can name the model that answered, where the transcript names the one that was asked for. So no counter of a session has a
-- rest of more than all its models together.
session_rest AS (
  SELECT
    *,
    sum(input_tokens) OVER of_session AS session_input_tokens,
    sum(output_tokens) OVER of_session AS session_output_tokens,
    sum(cache_read_tokens) OVER of_session AS session_cache_read_tokens,
    sum(cache_write_tokens) OVER of_session AS session_cache_write_tokens,
    sum(cache_write_1h_tokens) OVER of_session AS session_cache_write_1h_tokens,
    sum(web_searches) OVER of_session AS session_web_searches
  FROM model_rest
  WINDOW of_session AS (PARTITION BY org_id, day, session_id, agent)
),
rest AS (
  SELECT
    org_id,
    day,
    session_id,
    agent,
    model,
    occurred_at,
    first_day,
    greatest(least(input_tokens, session_input_tokens), 0) AS input_tokens,
    greatest(least(output_tokens, session_output_tokens), 0) AS output_tokens,
    greatest(least(cache_read_tokens, session_cache_read_tokens), 0) AS cache_read_tokens,
    greatest(least(cache_write_tokens, session_cache_write_tokens), 0) AS cache_write_tokens,
    greatest(least(cache_write_1h_tokens, session_cache_write_1h_tokens), 0) AS cache_write_1h_tokens,
    greatest(least(web_searches, session_web_searches), 0) AS web_searches
  FROM session_rest
  WHERE occurred_at IS NOT NULL
    AND (org_id, first_day) NOT IN (SELECT org_id, day FROM removed_days)
),
last_statement AS (
  SELECT
    org_id,
    day,
    session_id,
    agent,
    model,
    occurred_at,
    max(event_id) AS event_id
  FROM statement
  GROUP BY
    org_id,
    day,
    session_id,
    agent,
    model,
    occurred_at
)
-- Every call has input. Output alone is an estimate of what a person didn't wait for.
SELECT
  rest.org_id AS org_id,
  rest.day AS day,
  last_statement.event_id AS event_id,
  rest.first_day AS first_day,
  CASE WHEN is_call THEN rest.input_tokens ELSE 0 END AS input_tokens,
  CASE WHEN is_call THEN rest.output_tokens ELSE 0 END AS output_tokens,
  CASE WHEN is_call THEN rest.cache_read_tokens ELSE 0 END AS cache_read_tokens,
  CASE WHEN is_call THEN rest.cache_write_tokens ELSE 0 END AS cache_write_tokens,
  CASE WHEN is_call THEN rest.cache_write_1h_tokens ELSE 0 END AS cache_write_1h_tokens,
  CASE WHEN is_call THEN rest.web_searches ELSE 0 END AS web_searches
FROM (
  SELECT
    *,
    input_tokens + cache_read_tokens + cache_write_tokens > 0 AS is_call
  FROM rest
) AS rest
JOIN last_statement
  ON last_statement.org_id = rest.org_id
  AND last_statement.day = rest.day
  AND last_statement.session_id = rest.session_id
  AND last_statement.agent = rest.agent
  AND last_statement.model = rest.model
  AND last_statement.occurred_at = rest.occurred_at
UNION ALL
-- Of runs with events that retention has removed, what was found when they were there.
SELECT
  org_id,
  day,
  event_id,
  first_day,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  web_searches
FROM auxiliary_usage
WHERE (org_id, day) IN (SELECT org_id, day FROM wanted_day)
  AND (org_id, first_day) IN (SELECT org_id, day FROM removed_days)
