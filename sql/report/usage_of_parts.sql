-- One row is one model that was used in one part of a session on one day. It has filters and groups by user, agent, client,
-- repository, team, cost centre and model. belongs_to is belongs_to.sql.
-- Grain: (day, user_id, session_id, agent, client, repo, model_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit).
SELECT
  used.day AS day,
  group_key_of(
    $group_by,
    used.user_id,
    used.agent,
    used.client,
    used.repo,
    team.name,
    cost_center.name,
    CASE $group_by WHEN 'model' THEN used.model_id WHEN 'model_key' THEN model_key(used.model_id) ELSE '' END
  ) AS group_key,
  used.user_id AS user_id,
  used.session_id AS session_id,
  used.agent AS agent,
  used.client AS client,
  used.repo AS repo,
  used.model_id AS model_id,
  used.speed AS speed,
  used.service_tier AS service_tier,
  used.region AS region,
  used.prompt_class AS prompt_class,
  used.is_reported AS is_reported,
  used.is_unsplit AS is_unsplit,
  used.calls AS calls,
  used.input_tokens AS input_tokens,
  used.output_tokens AS output_tokens,
  used.cache_read_tokens AS cache_read_tokens,
  used.cache_write_tokens AS cache_write_tokens,
  used.cache_write_1h_tokens AS cache_write_1h_tokens,
  used.web_searches AS web_searches,
  used.reported_cost_usd AS reported_cost_usd,
  used.billable_tokens AS billable_tokens
FROM session_models AS used
LEFT JOIN belongs_to AS team
  ON team.kind = 'team'
  AND team.user_id = used.user_id
  AND team.first_day <= used.day
  AND team.last_day >= used.day
LEFT JOIN belongs_to AS cost_center
  ON cost_center.kind = 'cost_center'
  AND cost_center.user_id = used.user_id
  AND cost_center.first_day <= used.day
  AND cost_center.last_day >= used.day
WHERE used.org_id = $org_id
  AND used.day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR used.user_id IN $user_id)
  AND ($agent IS NULL OR used.agent IN $agent)
  AND ($client IS NULL OR used.client IN $client)
  AND ($repo IS NULL OR used.repo IN $repo)
  AND ($model IS NULL OR used.model_id IN $model)
  AND ($team IS NULL OR coalesce(team.name, '') IN $team)
  AND ($cost_center IS NULL OR coalesce(cost_center.name, '') IN $cost_center)
