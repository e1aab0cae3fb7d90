-- One row is one user who was active on one day.
-- Grain: (org_id, day, user_id).
-- Looks back: to the first day, for sessions that started earlier.
WITH
active AS (
  SELECT
    org_id,
    day,
    user_id,
    sum(tool_calls) AS tool_calls,
    sum(user_turns) AS user_messages,
    sum(assistant_messages) AS assistant_messages
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
-- Sessions by their start day, which is the first day on which they have a row.
session AS (
  SELECT
    org_id,
    user_id,
    min(day) AS day
  FROM user_sessions
  WHERE (org_id, user_id, session_id) IN (
    SELECT
      org_id,
      user_id,
      session_id
    FROM user_sessions
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  )
  GROUP BY
    org_id,
    user_id,
    session_id
),
started AS (
  SELECT
    org_id,
    day,
    user_id,
    count(*) AS sessions
  FROM session
  GROUP BY
    org_id,
    day,
    user_id
),
model AS (
  SELECT
    org_id,
    day,
    user_id,
    sum(billable_tokens) AS billable_tokens
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
primary_model AS (
  SELECT
    org_id,
    day,
    user_id,
    model_id,
    model_tier
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  QUALIFY row_number() OVER (
    PARTITION BY org_id, day, user_id
    ORDER BY calls DESC, output_tokens DESC, model_id
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
  QUALIFY row_number() OVER (
    PARTITION BY org_id, day, user_id
    ORDER BY
      tool_calls + user_turns DESC,
      CASE autonomy_mode
        WHEN 'manual' THEN 1
        WHEN 'spec' THEN 2
        WHEN 'auto-low' THEN 3
        WHEN 'auto-medium' THEN 4
        ELSE 5
      END
  ) = 1
),
file AS (
  SELECT
    org_id,
    day,
    user_id,
    sum(files_created) AS files_created,
    sum(files_edited) AS files_edited
  FROM user_extensions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
-- A commit or pull request counts once per user and day. One without a hash or URL counts by itself.
git_commit AS (
  SELECT
    org_id,
    day,
    user_id,
    count(DISTINCT coalesce('sha ' || commit_sha, 'event ' || event_id)) AS git_commits
  FROM git_commits
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
pull_request AS (
  SELECT
    org_id,
    day,
    user_id,
    count(DISTINCT coalesce('url ' || url, 'event ' || event_id)) AS git_prs_created
  FROM pull_requests
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
mcp_call AS (
  SELECT
    org_id,
    day,
    user_id,
    sum(tool_calls) AS mcp_calls
  FROM user_tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND server_key <> ''
  GROUP BY
    org_id,
    day,
    user_id
),
skill AS (
  SELECT
    org_id,
    day,
    user_id,
    sum(uses) AS skill_calls
  FROM user_skills
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
slash_command AS (
  SELECT
    org_id,
    day,
    user_id,
    sum(uses) AS slash_commands
  FROM user_slash_commands
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
),
hook AS (
  SELECT
    org_id,
    day,
    user_id,
    sum(runs) AS hooks
  FROM user_hooks
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(active.tool_calls AS BIGINT) AS tool_calls,
  CAST(coalesce(model.billable_tokens, 0) AS BIGINT) AS billable_tokens,
  CAST(coalesce(primary_model.model_id, '') AS VARCHAR) AS primary_model,
  CAST(coalesce(primary_model.model_tier, 'standard') AS VARCHAR) AS primary_model_tier,
  CAST(coalesce(file.files_created, 0) AS BIGINT) AS files_created,
  CAST(coalesce(file.files_edited, 0) AS BIGINT) AS files_edited,
  CAST(coalesce(git_commit.git_commits, 0) AS BIGINT) AS git_commits,
  CAST(coalesce(pull_request.git_prs_created, 0) AS BIGINT) AS git_prs_created,
  CAST(coalesce(mcp_call.mcp_calls, 0) AS BIGINT) AS mcp_calls,
  CAST(coalesce(skill.skill_calls, 0) AS BIGINT) AS skill_calls,
  CAST(coalesce(slash_command.slash_commands, 0) AS BIGINT) AS slash_commands,
  CAST(coalesce(hook.hooks, 0) AS BIGINT) AS hooks,
  CAST(coalesce(started.sessions, 0) AS BIGINT) AS sessions,
  CAST(active.user_messages + active.assistant_messages AS BIGINT) AS messages,
  CAST(active.user_messages AS BIGINT) AS user_messages,
  CAST(active.assistant_messages AS BIGINT) AS assistant_messages,
  CAST(ratio(active.tool_calls, active.user_messages) AS DOUBLE) AS autonomy_ratio,
  CAST(coalesce(delegation.autonomy_mode, 'manual') AS VARCHAR) AS delegation_level
FROM active
LEFT JOIN started USING (org_id, day, user_id)
LEFT JOIN model USING (org_id, day, user_id)
LEFT JOIN primary_model USING (org_id, day, user_id)
LEFT JOIN delegation USING (org_id, day, user_id)
LEFT JOIN file USING (org_id, day, user_id)
LEFT JOIN git_commit USING (org_id, day, user_id)
LEFT JOIN pull_request USING (org_id, day, user_id)
LEFT JOIN mcp_call USING (org_id, day, user_id)
LEFT JOIN skill USING (org_id, day, user_id)
LEFT JOIN slash_command USING (org_id, day, user_id)
LEFT JOIN hook USING (org_id, day, user_id)
