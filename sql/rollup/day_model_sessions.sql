-- One row is one model on one day: what all users did in the sessions in which it occurs on that day.
-- Grain: (org_id, day, model_id).
SELECT
  session_parts.org_id AS org_id,
  session_parts.day AS day,
  with_model.model_id AS model_id,
  CAST(sum(session_parts.sessions) AS BIGINT) AS sessions,
  CAST(sum(session_parts.user_messages) AS BIGINT) AS user_messages,
  CAST(sum(session_parts.tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(session_parts.files_created + session_parts.files_edited) AS BIGINT) AS files,
  CAST(sum(session_parts.git_commits) AS BIGINT) AS git_commits,
  CAST(sum(session_parts.git_prs_created) AS BIGINT) AS git_prs_created
FROM session_parts
JOIN (
  SELECT DISTINCT
    org_id,
    day,
    user_id,
    session_id,
    model_id
  FROM session_models
) AS with_model
  ON with_model.org_id = session_parts.org_id
  AND with_model.day = session_parts.day
  AND with_model.user_id = session_parts.user_id
  AND with_model.session_id = session_parts.session_id
GROUP BY
  session_parts.org_id,
  session_parts.day,
  with_model.model_id
