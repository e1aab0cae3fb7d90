-- One row is one user who used one model on one day. It has filters and groups by model.
-- Grain: (day, user_id, model_id).
SELECT
  day,
  CASE $group_by WHEN 'model' THEN model_id ELSE '' END AS group_key,
  user_id
FROM user_models
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($model IS NULL OR model_id = $model)
