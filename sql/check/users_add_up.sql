-- The users of a day add up to the day of their organization.
WITH
person AS (
  SELECT
    org_id,
    day,
    count(*) AS users,
    sum(tool_calls) AS tool_calls,
    sum(billable_tokens) AS billable_tokens,
    sum(files_created) AS files_created,
    sum(files_edited) AS files_edited,
    sum(git_commits) AS git_commits,
    sum(git_prs_created) AS git_prs_created,
    sum(CASE WHEN mcp_calls > 0 THEN 1 ELSE 0 END) AS users_with_mcp,
    sum(skill_calls) AS skill_calls,
    sum(slash_commands) AS slash_commands,
    sum(hooks) AS hooks,
    sum(sessions) AS sessions,
    sum(messages) AS messages,
    sum(user_messages) AS user_messages
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
credit AS (
  SELECT
    org_id,
    day,
    sum(billable_tokens) AS billable_tokens
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
compared AS (
  SELECT
    due.org_id AS org_id,
    due.day AS day,
    difference('daily_active_users', coalesce(person.users, 0), activity.daily_active_users)
      || difference('tool_calls', coalesce(person.tool_calls, 0), tools.tool_calls)
      || difference('billable_tokens', coalesce(person.billable_tokens, 0), coalesce(credit.billable_tokens, 0))
      || difference('files_created', coalesce(person.files_created, 0), productivity.files_created)
      || difference('files_edited', coalesce(person.files_edited, 0), productivity.files_edited)
      || difference('git_commits', coalesce(person.git_commits, 0), productivity.git_commits)
      || difference('git_prs_created', coalesce(person.git_prs_created, 0), productivity.git_prs_created)
      || difference('mcp_users_with_mcp', coalesce(person.users_with_mcp, 0), tools.mcp_users_with_mcp)
      || difference('skills_invocations', coalesce(person.skill_calls, 0), tools.skills_invocations)
      || difference('slash_commands_invocations', coalesce(person.slash_commands, 0), tools.slash_commands_invocations)
      || difference('hooks_invocations', coalesce(person.hooks, 0), tools.hooks_invocations)
      || difference('sessions', coalesce(person.sessions, 0), activity.sessions)
      || difference('messages', coalesce(person.messages, 0), activity.messages)
      || difference('user_messages', coalesce(person.user_messages, 0), activity.user_messages) AS difference
  FROM due
  LEFT JOIN person USING (org_id, day)
  LEFT JOIN credit USING (org_id, day)
  LEFT JOIN activity USING (org_id, day)
  LEFT JOIN tools USING (org_id, day)
  LEFT JOIN productivity USING (org_id, day)
)
SELECT
  org_id,
  day,
  'users and day: ' || difference AS difference
FROM compared
WHERE difference <> ''
