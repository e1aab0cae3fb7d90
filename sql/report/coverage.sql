-- One row is one agent of one user of a page on one day, with how far its channels agree.
-- agent_day is the file agent_day.sql.
-- Grain: (user_id, day, agent).
WITH
compared AS (
  SELECT
    user_id,
    day,
    agent,
    events,
    shadowed,
    difference_ratio(log_tokens, otlp_tokens) AS token_difference_ratio,
    difference_ratio(log_turns, hook_turns) AS turn_difference_ratio,
    transcripts_deleted
  FROM agent_day
  WHERE user_id BETWEEN $first_user_id AND $last_user_id
    AND ($user_id IS NULL OR user_id IN $user_id)
    AND ($team IS NULL AND $cost_center IS NULL OR (user_id, day) IN (SELECT user_id, day FROM placed_user))
)
SELECT
  CAST(compared.user_id AS VARCHAR) AS user_id,
  CAST(known_emails.user_email AS VARCHAR) AS user_email,
  CAST(compared.day AS DATE) AS day,
  CAST(compared.agent AS VARCHAR) AS agent,
  CAST(compared.events AS BIGINT) AS events,
  CAST(compared.shadowed AS BIGINT) AS shadowed,
  CAST(compared.token_difference_ratio AS DOUBLE) AS token_difference_ratio,
  CAST(compared.turn_difference_ratio AS DOUBLE) AS turn_difference_ratio,
  CAST(
    CASE WHEN compared.token_difference_ratio > 0.01 THEN 1 ELSE 0 END
    + CASE WHEN compared.turn_difference_ratio > 0.01 THEN 1 ELSE 0 END AS BIGINT
  ) AS disagreements,
  CAST(compared.transcripts_deleted AS BIGINT) AS transcripts_deleted
FROM compared
LEFT JOIN known_emails
  ON known_emails.org_id = $org_id
  AND known_emails.user_id BETWEEN $first_user_id AND $last_user_id
  AND known_emails.user_id = compared.user_id
