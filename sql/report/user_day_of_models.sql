-- One row is what all users did on one day in the sessions in which one model occurs. It has filters and groups by model.
-- Grain: (day, model_id).
SELECT
  day,
  CASE $group_by WHEN 'model' THEN model_id ELSE '' END AS group_key,
  0 AS user_days,
  sessions,
  user_messages AS user_turns,
  tool_calls,
  files,
  git_commits AS commits,
  git_prs_created AS pull_requests
FROM day_model_sessions
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND ($model IS NULL OR model_id = $model)
