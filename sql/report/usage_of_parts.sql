-- One row is one model that was used in one part of a session on one day. It has filters and groups by user, agent, client, repository and model.
-- Grain: (day, user_id, session_id, agent, client, repo, model_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit).
SELECT
  day,
  group_key_of($group_by, user_id, agent, client, repo, CASE $group_by WHEN 'model' THEN model_id WHEN 'model_key' THEN model_key(model_id) ELSE '' END) AS group_key,
  model_id,
  speed,
  service_tier,
  region,
  prompt_class,
  is_reported,
  is_unsplit,
  calls,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  web_searches,
  reported_cost_usd,
  billable_tokens
FROM session_models
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR user_id IN $user_id)
  AND ($agent IS NULL OR agent IN $agent)
  AND ($client IS NULL OR client IN $client)
  AND ($repo IS NULL OR repo IN $repo)
  AND ($model IS NULL OR model_id IN $model)
