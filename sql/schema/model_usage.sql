-- One row is one call of a model, or the auxiliary calls of a session, day and model. The four counters are disjoint.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW model_usage AS
SELECT
  org_id,
  day,
  event_id,
  occurred_at,
  user_id,
  session_id,
  client,
  autonomy_mode,
  agent,
  agent_version,
  repo,
  git_branch,
  cwd,
  model AS model_id,
  coalesce(input_tokens, 0) AS input_tokens,
  coalesce(output_tokens, 0) AS output_tokens,
  coalesce(cache_read_tokens, 0) AS cache_read_tokens,
  coalesce(cache_write_tokens, 0) AS cache_write_tokens,
  least(coalesce(cache_write_1h_tokens, 0), coalesce(cache_write_tokens, 0)) AS cache_write_1h_tokens,  -- the part of them that lives an hour
  request_id,  -- the call's, as the model's provider gave it
  requested_model,
  class_of(speed) AS speed,                -- '' for the standard speed; likewise the next two
  class_of(service_tier) AS service_tier,  -- the provider's: priority, flex, batch, ...
  coalesce(nullif(class_of(region), ''), model_region(model)) AS region,  -- where it had to be computed, if that costs more
  effort,
  provider,  -- who serves the model, as the agent says
  plan,      -- the subscription that the call belongs to, as the agent says
  CASE
    WHEN channel IN ('otlp_metric', 'vendor_api') OR is_session_usage(type, agent) THEN CAST(0 AS BIGINT)
    ELSE prompt_class(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0))
  END AS prompt_class,  -- the limit of prices that its prompt exceeds, in tokens; 0 for none, and for sums of several calls
  coalesce(web_searches, 0) AS web_searches,
  reported_cost_usd,  -- what the agent or provider says that it cost
  CASE WHEN reported_cost_usd > 0 THEN 1 ELSE 0 END AS is_reported,  -- 1 if that is more than 0; otherwise 0
  CASE
    WHEN reported_cost_usd > 0 AND cache_write_tokens > 0 AND cache_write_1h_tokens IS NULL THEN 1
    ELSE 0
  END AS is_unsplit  -- 1 if it says its cost, and not for how long it wrote to the cache; otherwise 0
FROM counted_events
WHERE type = 'model_usage'
UNION ALL
SELECT
  counted_events.org_id AS org_id,
  counted_events.day AS day,
  counted_events.event_id AS event_id,
  occurred_at,
  user_id,
  session_id,
  client,
  autonomy_mode,
  agent,
  agent_version,
  repo,
  git_branch,
  cwd,
  model AS model_id,
  auxiliary_usage.input_tokens AS input_tokens,
  auxiliary_usage.output_tokens AS output_tokens,
  auxiliary_usage.cache_read_tokens AS cache_read_tokens,
  auxiliary_usage.cache_write_tokens AS cache_write_tokens,
  least(auxiliary_usage.cache_write_1h_tokens, auxiliary_usage.cache_write_tokens) AS cache_write_1h_tokens,
  request_id,
  requested_model,
  '' AS speed,
  '' AS service_tier,
  model_region(model) AS region,
  effort,
  provider,
  plan,
  CAST(0 AS BIGINT) AS prompt_class,
  auxiliary_usage.web_searches AS web_searches,
  reported_cost_usd,
  0 AS is_reported,
  0 AS is_unsplit
FROM counted_events
JOIN auxiliary_usage
  ON auxiliary_usage.org_id = counted_events.org_id
  AND auxiliary_usage.day = counted_events.day
  AND auxiliary_usage.event_id = counted_events.event_id
WHERE type = 'other_usage'
  AND auxiliary_usage.input_tokens + auxiliary_usage.cache_read_tokens + auxiliary_usage.cache_write_tokens > 0
