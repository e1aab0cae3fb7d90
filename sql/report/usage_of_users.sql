-- One row is one model that one user used with one agent on one day. It has filters and groups by user, agent and model.
-- Grain: (day, user_id, model_id, agent).
SELECT
  day,
  CASE $group_by WHEN 'user' THEN user_id WHEN 'agent' THEN agent WHEN 'model' THEN model_id ELSE '' END AS group_key,
  model_id,
  calls,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  billable_tokens
FROM user_models
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR user_id = $user_id)
  AND ($agent IS NULL OR agent = $agent)
  AND ($model IS NULL OR model_id = $model)
