-- One row is one agent that reported on one day: what two of its channels say of the same users.
-- agent_day is the file agent_day.sql.
-- Grain: (day, agent).
WITH
compared AS (
  SELECT
    day,
    agent,
    difference_ratio(log_tokens, otlp_tokens) AS token_difference_ratio,
    difference_ratio(log_turns, hook_turns) AS turn_difference_ratio,
    log_tokens,
    otlp_tokens,
    log_turns,
    hook_turns,
    transcripts_deleted
  FROM agent_day
)
SELECT
  CAST(day AS DATE) AS day,
  CAST(agent AS VARCHAR) AS agent,
  CAST(count(*) AS BIGINT) AS users,
  CAST(count(token_difference_ratio) AS BIGINT) AS users_with_tokens,
  CAST(count(*) FILTER (WHERE token_difference_ratio > 0.01) AS BIGINT) AS users_with_other_tokens,
  CAST(coalesce(sum(log_tokens) FILTER (WHERE token_difference_ratio IS NOT NULL), 0) AS BIGINT) AS log_tokens,
  CAST(coalesce(sum(otlp_tokens) FILTER (WHERE token_difference_ratio IS NOT NULL), 0) AS BIGINT) AS otlp_tokens,
  CAST(count(turn_difference_ratio) AS BIGINT) AS users_with_turns,
  CAST(count(*) FILTER (WHERE turn_difference_ratio > 0.01) AS BIGINT) AS users_with_other_turns,
  CAST(coalesce(sum(log_turns) FILTER (WHERE turn_difference_ratio IS NOT NULL), 0) AS BIGINT) AS log_turns,
  CAST(coalesce(sum(hook_turns) FILTER (WHERE turn_difference_ratio IS NOT NULL), 0) AS BIGINT) AS hook_turns,
  CAST(count(*) FILTER (WHERE transcripts_deleted > 0) AS BIGINT) AS users_with_deleted_transcripts,
  CAST(sum(transcripts_deleted) AS BIGINT) AS transcripts_deleted
FROM compared
GROUP BY
  day,
  agent
