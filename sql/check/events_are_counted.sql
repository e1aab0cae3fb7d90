-- A day counts each of its own events once, and no others: as many as there are of each kind, and their tokens.
-- A tool invocation is a tool call or a parse artifact.
SELECT
  due.org_id AS org_id,
  due.day AS day,
  disagreement('stored events are', stored.events, coalesce(of_user_sessions.events, 0) + quality.shadowed)
    || disagreement('stored events by channel are', stored.events, of_coverage.events)
    || disagreement('shadowed events by channel are', quality.shadowed, of_coverage.shadowed)
    || disagreement('events are', of_events.events, of_user_sessions.events)
    || disagreement('user turns among the events are', of_events.user_turns, of_user_sessions.user_turns)
    || disagreement('assistant messages among the events are', of_events.assistant_messages, of_user_sessions.assistant_messages)
    || disagreement('tool invocations among the events are', of_events.tool_invocations, coalesce(of_user_sessions.tool_calls, 0) + quality.parse_artifacts)
    || disagreement('uses of skills among the events are', of_events.skill_uses, of_user_skills.uses)
    || disagreement('slash commands among the events are', of_events.slash_commands, of_user_slash_commands.uses)
    || disagreement('runs of hooks among the events are', of_events.hook_runs, of_user_hooks.runs)
    || disagreement('calls of models among the events are', of_events.model_calls + coalesce(of_auxiliary.calls, 0), of_user_models.calls)
    || disagreement('input tokens among the events are', of_events.input_tokens + coalesce(of_auxiliary.input_tokens, 0), of_user_models.input_tokens)
    || disagreement('output tokens among the events are', of_events.output_tokens + coalesce(of_auxiliary.output_tokens, 0), of_user_models.output_tokens)
    || disagreement('tokens read from the cache among the events are', of_events.cache_read_tokens + coalesce(of_auxiliary.cache_read_tokens, 0), of_user_models.cache_read_tokens)
    || disagreement('tokens written to the cache among the events are', of_events.cache_write_tokens + coalesce(of_auxiliary.cache_write_tokens, 0), of_user_models.cache_write_tokens) AS difference
FROM due
LEFT JOIN (
  SELECT
    org_id,
    day,
    count(*) AS events
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS stored USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    count(*) AS events,
    count(*) FILTER (WHERE type = 'user_message') AS user_turns,
    count(*) FILTER (WHERE type = 'assistant_message') AS assistant_messages,
    count(*) FILTER (WHERE type = 'tool_call') AS tool_invocations,
    count(*) FILTER (WHERE type = 'skill_use') AS skill_uses,
    count(*) FILTER (WHERE type = 'slash_command') AS slash_commands,
    count(*) FILTER (WHERE type = 'hook_run') AS hook_runs,
    count(*) FILTER (WHERE type = 'model_usage') AS model_calls,
    sum(CASE WHEN type = 'model_usage' THEN coalesce(input_tokens, 0) ELSE 0 END) AS input_tokens,
    sum(CASE WHEN type = 'model_usage' THEN coalesce(output_tokens, 0) ELSE 0 END) AS output_tokens,
    sum(CASE WHEN type = 'model_usage' THEN coalesce(cache_read_tokens, 0) ELSE 0 END) AS cache_read_tokens,
    sum(CASE WHEN type = 'model_usage' THEN coalesce(cache_write_tokens, 0) ELSE 0 END) AS cache_write_tokens
  FROM counted_events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_events USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(events) AS events,
    sum(user_turns) AS user_turns,
    sum(assistant_messages) AS assistant_messages,
    sum(tool_calls) AS tool_calls
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_sessions USING (org_id, day)
LEFT JOIN quality USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(events) AS events,
    sum(shadowed) AS shadowed
  FROM coverage
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_coverage USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(uses) AS uses
  FROM user_skills
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_skills USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(uses) AS uses
  FROM user_slash_commands
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_slash_commands USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(runs) AS runs
  FROM user_hooks
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_hooks USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(calls) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_models USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    count(*) FILTER (WHERE input_tokens + cache_read_tokens + cache_write_tokens > 0) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens
  FROM auxiliary_usage
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_auxiliary USING (org_id, day)
