-- One row is one agent that reported on a built day, and how far its channels agree.
-- Grain: (date, group_key).
-- Shown first: date, group_key, users, users_with_other_tokens, log_tokens, otlp_tokens, users_with_other_turns, log_turns, hook_turns.
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(agent AS VARCHAR) AS group_key,  -- the agent, empty if events name none, e.g. codex
  CAST(users AS BIGINT) AS users,  -- users of the agent, e.g. 12
  CAST(users_with_tokens AS BIGINT) AS users_with_tokens,  -- of them, those whose tokens both transcripts and telemetry reported, e.g. 10
  CAST(users_with_other_tokens AS BIGINT) AS users_with_other_tokens,  -- of these, those for whom the two differ by more than 1 %, e.g. 1
  CAST(log_tokens AS BIGINT) AS log_tokens,  -- tokens of these users in transcripts, e.g. 128100
  CAST(otlp_tokens AS BIGINT) AS otlp_tokens,  -- the same by telemetry, e.g. 128400
  CAST(users_with_turns AS BIGINT) AS users_with_turns,  -- users whose turns both transcripts and hooks reported, e.g. 8
  CAST(users_with_other_turns AS BIGINT) AS users_with_other_turns,  -- of these, those for whom the two differ by more than 1 %, e.g. 0
  CAST(log_turns AS BIGINT) AS log_turns,  -- turns of these users in transcripts, e.g. 88
  CAST(hook_turns AS BIGINT) AS hook_turns,  -- the same by hooks, e.g. 88
  CAST(users_with_deleted_transcripts AS BIGINT) AS users_with_deleted_transcripts,  -- users of whom the agent has deleted transcripts, because they were old, e.g. 0
  CAST(transcripts_deleted AS BIGINT) AS transcripts_deleted  -- how many, e.g. 0
FROM report_quality_by_agent
ORDER BY
  date,
  group_key
