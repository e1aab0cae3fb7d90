-- One row is one of found_usage, in a group of which a request that may tell no few people apart has a row. A session that was found by several of the
-- joined groups is there once.
-- shown_cell is shown_cell.sql. quiet_day has the days that count with another one.
-- Grain: (day, group_key, user_id, session_id, agent, client, repo, model_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit).
SELECT DISTINCT
  found_usage.day AS day,
  CASE WHEN $group_by <> 'none' AND shown_cell.group_key IS NULL THEN '(small groups)' ELSE found_usage.group_key END AS group_key,
  found_usage.user_id AS user_id,
  found_usage.session_id AS session_id,
  found_usage.agent AS agent,
  found_usage.client AS client,
  found_usage.repo AS repo,
  found_usage.model_id AS model_id,
  found_usage.speed AS speed,
  found_usage.service_tier AS service_tier,
  found_usage.region AS region,
  found_usage.prompt_class AS prompt_class,
  found_usage.is_reported AS is_reported,
  found_usage.is_unsplit AS is_unsplit,
  found_usage.calls AS calls,
  found_usage.input_tokens AS input_tokens,
  found_usage.output_tokens AS output_tokens,
  found_usage.cache_read_tokens AS cache_read_tokens,
  found_usage.cache_write_tokens AS cache_write_tokens,
  found_usage.cache_write_1h_tokens AS cache_write_1h_tokens,
  found_usage.web_searches AS web_searches,
  found_usage.reported_cost_usd AS reported_cost_usd,
  found_usage.billable_tokens AS billable_tokens
FROM found_usage
LEFT JOIN quiet_day
  ON quiet_day.day = found_usage.day
LEFT JOIN shown_cell
  ON shown_cell.period = period_of($period, coalesce(quiet_day.counted_on, found_usage.day), $from)
  AND shown_cell.group_key = found_usage.group_key
