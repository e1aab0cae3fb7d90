-- A day counts each of its events, and no other day's: as many as there are of each kind, and their tokens.
-- A tool invocation is a tool call or a parse artifact.
WITH
event AS (
  SELECT
    org_id,
    day,
    count(*) AS events,
    count(*) FILTER (WHERE type = 'user_message') AS user_turns,
    count(*) FILTER (WHERE type = 'assistant_message') AS assistant_messages,
    count(*) FILTER (WHERE type = 'model_usage') AS model_calls,
    sum(CASE WHEN type = 'model_usage' THEN coalesce(input_tokens, 0) ELSE 0 END) AS input_tokens,
    sum(CASE WHEN type = 'model_usage' THEN coalesce(output_tokens, 0) ELSE 0 END) AS output_tokens,
    sum(CASE WHEN type = 'model_usage' THEN coalesce(cache_read_tokens, 0) ELSE 0 END) AS cache_read_tokens,
    sum(CASE WHEN type = 'model_usage' THEN coalesce(cache_write_tokens, 0) ELSE 0 END) AS cache_write_tokens,
    count(*) FILTER (WHERE type = 'tool_call') AS tool_invocations,
    count(*) FILTER (WHERE type = 'skill_use') AS skill_uses,
    count(*) FILTER (WHERE type = 'slash_command') AS slash_commands,
    count(*) FILTER (WHERE type = 'hook_run') AS hook_runs
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
counted AS (
  SELECT
    org_id,
    day,
    'events' AS measure,
    CAST(events AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'events' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(events) AS BIGINT) AS of_day
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'user turns' AS measure,
    CAST(user_turns AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'user turns' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(user_turns) AS BIGINT) AS of_day
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'assistant messages' AS measure,
    CAST(assistant_messages AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'assistant messages' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(assistant_messages) AS BIGINT) AS of_day
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'calls of models' AS measure,
    CAST(model_calls AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'calls of models' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(calls) AS BIGINT) AS of_day
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'input tokens' AS measure,
    CAST(input_tokens AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'input tokens' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(input_tokens) AS BIGINT) AS of_day
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'output tokens' AS measure,
    CAST(output_tokens AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'output tokens' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(output_tokens) AS BIGINT) AS of_day
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'tokens read from the cache' AS measure,
    CAST(cache_read_tokens AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'tokens read from the cache' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(cache_read_tokens) AS BIGINT) AS of_day
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'tokens written to the cache' AS measure,
    CAST(cache_write_tokens AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'tokens written to the cache' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(cache_write_tokens) AS BIGINT) AS of_day
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'uses of skills' AS measure,
    CAST(skill_uses AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'uses of skills' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(uses) AS BIGINT) AS of_day
  FROM user_skills
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'slash commands' AS measure,
    CAST(slash_commands AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'slash commands' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(uses) AS BIGINT) AS of_day
  FROM user_slash_commands
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'runs of hooks' AS measure,
    CAST(hook_runs AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'runs of hooks' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(runs) AS BIGINT) AS of_day
  FROM user_hooks
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'tool invocations' AS measure,
    CAST(tool_invocations AS BIGINT) AS of_events,
    CAST(0 AS BIGINT) AS of_day
  FROM event
  UNION ALL
  SELECT
    org_id,
    day,
    'tool invocations' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(tool_calls) AS BIGINT) AS of_day
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
  UNION ALL
  SELECT
    org_id,
    day,
    'tool invocations' AS measure,
    CAST(0 AS BIGINT) AS of_events,
    CAST(sum(parse_artifacts) AS BIGINT) AS of_day
  FROM quality
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
)
SELECT
  org_id,
  day,
  CAST(sum(of_events) AS VARCHAR) || ' ' || measure || ' where the day has ' || CAST(sum(of_day) AS VARCHAR) AS difference
FROM counted
GROUP BY
  org_id,
  day,
  measure
HAVING sum(of_events) <> sum(of_day)
ORDER BY
  org_id,
  day,
  measure
