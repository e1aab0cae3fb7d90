-- One row is one model that was used in one part of a chosen session on one day. It has all filters and groups. belongs_to is
-- belongs_to.sql.
-- Grain: (day, user_id, session_id, agent, client, repo, model_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit, group_key).
SELECT
  session_models.day AS day,
  group_key_of($group_by, session_models.user_id, session_models.agent, session_models.client, session_models.repo, team.name, cost_center.name, chosen_session.found_by) AS group_key,
  session_models.user_id AS user_id,
  session_models.session_id AS session_id,
  session_models.agent AS agent,
  session_models.client AS client,
  session_models.repo AS repo,
  session_models.model_id AS model_id,
  session_models.speed AS speed,
  session_models.service_tier AS service_tier,
  session_models.region AS region,
  session_models.prompt_class AS prompt_class,
  session_models.is_reported AS is_reported,
  session_models.is_unsplit AS is_unsplit,
  session_models.calls AS calls,
  session_models.input_tokens AS input_tokens,
  session_models.output_tokens AS output_tokens,
  session_models.cache_read_tokens AS cache_read_tokens,
  session_models.cache_write_tokens AS cache_write_tokens,
  session_models.cache_write_1h_tokens AS cache_write_1h_tokens,
  session_models.web_searches AS web_searches,
  session_models.reported_cost_usd AS reported_cost_usd,
  session_models.billable_tokens AS billable_tokens
FROM session_models
JOIN chosen_session
  ON chosen_session.day = session_models.day
  AND chosen_session.user_id = session_models.user_id
  AND chosen_session.session_id = session_models.session_id
LEFT JOIN belongs_to AS team
  ON team.kind = 'team'
  AND team.user_id = session_models.user_id
  AND team.first_day <= session_models.day
  AND team.last_day >= session_models.day
LEFT JOIN belongs_to AS cost_center
  ON cost_center.kind = 'cost_center'
  AND cost_center.user_id = session_models.user_id
  AND cost_center.first_day <= session_models.day
  AND cost_center.last_day >= session_models.day
WHERE session_models.org_id = $org_id
  AND session_models.day BETWEEN $earliest AND $to
  AND ($user_id IS NULL OR session_models.user_id IN $user_id)
  AND ($agent IS NULL OR session_models.agent IN $agent)
  AND ($client IS NULL OR session_models.client IN $client)
  AND ($repo IS NULL OR session_models.repo IN $repo)
  AND ($team IS NULL OR coalesce(team.name, '') IN $team)
  AND ($cost_center IS NULL OR coalesce(cost_center.name, '') IN $cost_center)
  AND ($model IS NULL OR session_models.model_id IN $model)
  AND chosen_session.found_by = CASE $group_by
    WHEN 'model' THEN session_models.model_id
    WHEN 'model_key' THEN model_key(session_models.model_id)
    ELSE chosen_session.found_by
  END
