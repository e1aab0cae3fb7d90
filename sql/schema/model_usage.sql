-- One row is one call of a model. The four counters are disjoint.
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
  request_id  -- the call's, as the model's provider gave it
FROM counted_events
WHERE type = 'model_usage'
