-- One row is one agent with which one user was active on one day. The agents of a user add up to the user: see session_parts.
-- Grain: (org_id, day, user_id, agent).
-- Looks back: 0 days.
WITH
active AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    sum(sessions) AS sessions,
    sum(user_messages) AS user_messages,
    sum(assistant_messages) AS assistant_messages,
    sum(tool_calls) AS tool_calls,
    sum(failed_calls) AS failed_calls,
    sum(calls_with_outcome) AS calls_with_outcome,
    sum(files_created) AS files_created,
    sum(files_edited) AS files_edited,
    sum(git_commits) AS git_commits,
    sum(git_prs_created) AS git_prs_created
  FROM session_parts
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    agent
),
model AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    sum(billable_tokens) AS billable_tokens
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    agent
),
mcp_call AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    sum(tool_calls) AS mcp_calls
  FROM user_tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND server_key <> ''
  GROUP BY
    org_id,
    day,
    user_id,
    agent
),
skill AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    sum(uses) AS skill_calls
  FROM user_skills
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    agent
),
slash_command AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    sum(uses) AS slash_commands
  FROM user_slash_commands
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    agent
),
hook AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    sum(runs) AS hooks
  FROM user_hooks
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    agent
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(agent AS VARCHAR) AS agent,
  CAST(active.tool_calls AS BIGINT) AS tool_calls,
  CAST(active.failed_calls AS BIGINT) AS failed_calls,
  CAST(active.calls_with_outcome AS BIGINT) AS calls_with_outcome,
  CAST(coalesce(model.billable_tokens, 0) AS BIGINT) AS billable_tokens,
  CAST(active.files_created AS BIGINT) AS files_created,
  CAST(active.files_edited AS BIGINT) AS files_edited,
  CAST(active.git_commits AS BIGINT) AS git_commits,
  CAST(active.git_prs_created AS BIGINT) AS git_prs_created,
  CAST(coalesce(mcp_call.mcp_calls, 0) AS BIGINT) AS mcp_calls,
  CAST(coalesce(skill.skill_calls, 0) AS BIGINT) AS skill_calls,
  CAST(coalesce(slash_command.slash_commands, 0) AS BIGINT) AS slash_commands,
  CAST(coalesce(hook.hooks, 0) AS BIGINT) AS hooks,
  CAST(active.sessions AS BIGINT) AS sessions,
  CAST(active.user_messages + active.assistant_messages AS BIGINT) AS messages,
  CAST(active.user_messages AS BIGINT) AS user_messages,
  CAST(active.assistant_messages AS BIGINT) AS assistant_messages
FROM active
LEFT JOIN model USING (org_id, day, user_id, agent)
LEFT JOIN mcp_call USING (org_id, day, user_id, agent)
LEFT JOIN skill USING (org_id, day, user_id, agent)
LEFT JOIN slash_command USING (org_id, day, user_id, agent)
LEFT JOIN hook USING (org_id, day, user_id, agent)
