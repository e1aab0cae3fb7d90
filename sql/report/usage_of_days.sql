-- One row is one model that all users used with one agent on one day. It has filters and groups by agent and model.
-- Grain: (day, model_id, agent).
SELECT
  day,
  CASE $group_by WHEN 'agent' THEN agent WHEN 'model' THEN model_id ELSE '' END AS group_key,
  model_id,
  calls,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  cache_write_tokens,
  cache_write_1h_tokens,
  billable_tokens
FROM day_models
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($agent IS NULL OR agent = $agent)
  AND ($model IS NULL OR model_id = $model)
