-- One row is one user who was active on one day.
-- Grain: (org_id, day, user_id).
-- Looks back: 0 days.
WITH
active AS (
  SELECT
    org_id,
    day,
    user_id,
    sum(tool_calls) AS tool_calls,
    sum(failed_calls) AS failed_calls,
    sum(calls_with_outcome) AS calls_with_outcome,
    sum(billable_tokens) AS billable_tokens,
    sum(files_created) AS files_created,
    sum(files_edited) AS files_edited,
    sum(git_commits) AS git_commits,
    sum(git_prs_created) AS git_prs_created,
    sum(mcp_calls) AS mcp_calls,
    sum(skill_calls) AS skill_calls,
    sum(slash_commands) AS slash_commands,
    sum(hooks) AS hooks,
    sum(sessions) AS sessions,
    sum(messages) AS messages,
    sum(user_messages) AS user_messages,
    sum(assistant_messages) AS assistant_messages
  FROM user_agents
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
-- The model with the most calls; if several have as many, the one with the most output tokens, then the first by name.
primary_model AS (
  SELECT
    org_id,
    day,
    user_id,
    model_id,
    max(model_tier) AS model_tier
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    model_id
  QUALIFY row_number() OVER (
    PARTITION BY org_id, day, user_id
    ORDER BY sum(calls) DESC, sum(output_tokens) DESC, model_id
  ) = 1
),
-- The mode with the most tool calls and user turns; if several have as many, the least autonomous.
delegation AS (
  SELECT
    org_id,
    day,
    user_id,
    autonomy_mode
  FROM user_modes
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND autonomy_mode <> ''
  GROUP BY
    org_id,
    day,
    user_id,
    autonomy_mode
  QUALIFY row_number() OVER (
    PARTITION BY org_id, day, user_id
    ORDER BY
      sum(tool_calls + user_turns) DESC,
      CASE autonomy_mode
        WHEN 'manual' THEN 1
        WHEN 'spec' THEN 2
        WHEN 'auto-low' THEN 3
        WHEN 'auto-medium' THEN 4
        ELSE 5
      END
  ) = 1
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(active.tool_calls AS BIGINT) AS tool_calls,
  CAST(active.failed_calls AS BIGINT) AS failed_calls,
  CAST(active.calls_with_outcome AS BIGINT) AS calls_with_outcome,
  CAST(active.billable_tokens AS BIGINT) AS billable_tokens,
  CAST(coalesce(primary_model.model_id, '') AS VARCHAR) AS primary_model,
  CAST(coalesce(primary_model.model_tier, 'standard') AS VARCHAR) AS primary_model_tier,
  CAST(active.files_created AS BIGINT) AS files_created,
  CAST(active.files_edited AS BIGINT) AS files_edited,
  CAST(active.git_commits AS BIGINT) AS git_commits,
  CAST(active.git_prs_created AS BIGINT) AS git_prs_created,
  CAST(active.mcp_calls AS BIGINT) AS mcp_calls,
  CAST(active.skill_calls AS BIGINT) AS skill_calls,
  CAST(active.slash_commands AS BIGINT) AS slash_commands,
  CAST(active.hooks AS BIGINT) AS hooks,
  CAST(active.sessions AS BIGINT) AS sessions,
  CAST(active.messages AS BIGINT) AS messages,
  CAST(active.user_messages AS BIGINT) AS user_messages,
  CAST(active.assistant_messages AS BIGINT) AS assistant_messages,
  CAST(ratio(active.tool_calls, active.user_messages) AS DOUBLE) AS autonomy_ratio,
  CAST(coalesce(delegation.autonomy_mode, 'manual') AS VARCHAR) AS delegation_level
FROM active
LEFT JOIN primary_model USING (org_id, day, user_id)
LEFT JOIN delegation USING (org_id, day, user_id)
