-- The groups of a number add up to the number that has no groups.
WITH
tool AS (
  SELECT
    org_id,
    day,
    sum(tool_calls) AS tool_calls,
    count(DISTINCT CASE WHEN server_key <> '' THEN user_id END) AS users_with_mcp
  FROM user_tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
mode AS (
  SELECT
    org_id,
    day,
    sum(tool_calls) AS tool_calls,
    sum(user_turns) AS user_turns
  FROM user_modes
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
session AS (
  SELECT
    org_id,
    day,
    count(DISTINCT user_id) AS users,
    sum(events) AS events,
    sum(tool_calls) AS tool_calls,
    sum(user_turns) AS user_turns
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
skill AS (
  SELECT
    org_id,
    day,
    sum(uses) AS uses
  FROM user_skills
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
command AS (
  SELECT
    org_id,
    day,
    sum(uses) AS uses
  FROM user_slash_commands
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
hook AS (
  SELECT
    org_id,
    day,
    sum(runs) AS runs
  FROM user_hooks
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
file AS (
  SELECT
    org_id,
    day,
    sum(files_created) AS files_created,
    sum(files_edited) AS files_edited
  FROM user_extensions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
client AS (
  SELECT
    org_id,
    day,
    sum(events) AS events,
    count(DISTINCT CASE WHEN client = 'web' THEN user_id END) AS web_users
  FROM user_clients
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
compared AS (
  SELECT
    due.org_id AS org_id,
    due.day AS day,
    difference('tool_calls by tool', coalesce(tool.tool_calls, 0), tools.tool_calls)
      || difference('tool_calls by mode', coalesce(mode.tool_calls, 0), tools.tool_calls)
      || difference('tool_calls by session', coalesce(session.tool_calls, 0), tools.tool_calls)
      || difference('user_messages by mode', coalesce(mode.user_turns, 0), activity.user_messages)
      || difference('user_messages by session', coalesce(session.user_turns, 0), activity.user_messages)
      || difference('daily_active_users by session', coalesce(session.users, 0), activity.daily_active_users)
      || difference('events by session', coalesce(session.events, 0), quality.events)
      || difference('events by client', coalesce(client.events, 0), quality.events - quality.events_without_client)
      || difference('mcp_users_with_mcp by server', coalesce(tool.users_with_mcp, 0), tools.mcp_users_with_mcp)
      || difference('web_users by client', coalesce(client.web_users, 0), tools.web_users)
      || difference('skills_invocations by name', coalesce(skill.uses, 0), tools.skills_invocations)
      || difference('slash_commands_invocations by name', coalesce(command.uses, 0), tools.slash_commands_invocations)
      || difference('hooks_invocations by event', coalesce(hook.runs, 0), tools.hooks_invocations)
      || difference('files_created by extension', coalesce(file.files_created, 0), productivity.files_created)
      || difference('files_edited by extension', coalesce(file.files_edited, 0), productivity.files_edited) AS difference
  FROM due
  LEFT JOIN tools USING (org_id, day)
  LEFT JOIN activity USING (org_id, day)
  LEFT JOIN productivity USING (org_id, day)
  LEFT JOIN quality USING (org_id, day)
  LEFT JOIN tool USING (org_id, day)
  LEFT JOIN mode USING (org_id, day)
  LEFT JOIN session USING (org_id, day)
  LEFT JOIN skill USING (org_id, day)
  LEFT JOIN command USING (org_id, day)
  LEFT JOIN hook USING (org_id, day)
  LEFT JOIN file USING (org_id, day)
  LEFT JOIN client USING (org_id, day)
)
SELECT
  org_id,
  day,
  'groups and day: ' || difference AS difference
FROM compared
WHERE difference <> ''
