-- One row is one model that all users used on one day with one agent, on one client and in one repository. It has filters and groups by
-- agent, client, repository and model.
-- Grain: (day, model_id, agent, client, repo).
SELECT
  day,
  group_key_of($group_by, '', agent, client, repo, CASE $group_by WHEN 'model' THEN model_id ELSE '' END) AS group_key,
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
  AND ($client IS NULL OR client = $client)
  AND ($repo IS NULL OR repo = $repo)
  AND ($model IS NULL OR model_id = $model)
