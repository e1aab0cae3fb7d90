-- One row is one agent with which one user was active on one day. The agents of a user add up to the user: a session, file, commit or
-- pull request of several agents counts for the last of them by name.
-- Grain: (org_id, day, user_id, agent).
-- Looks back: to the first day, for sessions that started earlier.
WITH
active AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    sum(tool_calls) AS tool_calls,
    sum(user_turns) AS user_messages,
    sum(assistant_messages) AS assistant_messages
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    agent
),
session AS (
  SELECT
    org_id,
    day,
    user_id,
    session_id,
    max(agent) AS agent
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    session_id
),
-- The start day of a session is the first day on which it has a row.
session_start AS (
  SELECT
    org_id,
    user_id,
    session_id,
    min(day) AS day
  FROM user_sessions
  WHERE (org_id, user_id, session_id) IN (SELECT org_id, user_id, session_id FROM session)
  GROUP BY
    org_id,
    user_id,
    session_id
),
started AS (
  SELECT
    session.org_id AS org_id,
    session.day AS day,
    session.user_id AS user_id,
    session.agent AS agent,
    count(*) AS sessions
  FROM session
  JOIN session_start
    ON session_start.org_id = session.org_id
    AND session_start.user_id = session.user_id
    AND session_start.session_id = session.session_id
    AND session_start.day = session.day
  GROUP BY
    session.org_id,
    session.day,
    session.user_id,
    session.agent
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
file AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    sum(files_created) AS files_created,
    sum(files_edited) AS files_edited
  FROM user_extensions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day,
    user_id,
    agent
),
-- A commit or pull request counts once per user and day. One without a hash or URL counts by itself.
git_commit AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    count(*) AS git_commits
  FROM (
    SELECT
      org_id,
      day,
      user_id,
      max(coalesce(agent, '')) AS agent
    FROM git_commits
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    GROUP BY
      org_id,
      day,
      user_id,
      coalesce('sha ' || commit_sha, 'event ' || event_id)
  ) AS made
  GROUP BY
    org_id,
    day,
    user_id,
    agent
),
pull_request AS (
  SELECT
    org_id,
    day,
    user_id,
    agent,
    count(*) AS git_prs_created
  FROM (
    SELECT
      org_id,
      day,
      user_id,
      max(coalesce(agent, '')) AS agent
    FROM pull_requests
    WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    GROUP BY
      org_id,
      day,
      user_id,
      coalesce('url ' || url, 'event ' || event_id)
  ) AS made
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
  CAST(coalesce(model.billable_tokens, 0) AS BIGINT) AS billable_tokens,
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
  CAST(active.assistant_messages AS BIGINT) AS assistant_messages
FROM active
LEFT JOIN started USING (org_id, day, user_id, agent)
LEFT JOIN model USING (org_id, day, user_id, agent)
LEFT JOIN file USING (org_id, day, user_id, agent)
LEFT JOIN git_commit USING (org_id, day, user_id, agent)
LEFT JOIN pull_request USING (org_id, day, user_id, agent)
LEFT JOIN mcp_call USING (org_id, day, user_id, agent)
LEFT JOIN skill USING (org_id, day, user_id, agent)
LEFT JOIN slash_command USING (org_id, day, user_id, agent)
LEFT JOIN hook USING (org_id, day, user_id, agent)
