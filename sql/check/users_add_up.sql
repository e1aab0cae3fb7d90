-- The users of a day add up to their organization's day.
SELECT
  due.org_id AS org_id,
  due.day AS day,
  disagreement('daily_active_users of the users add up to', of_users.users, activity.daily_active_users)
    || disagreement('sessions of the users add up to', of_users.sessions, activity.sessions)
    || disagreement('messages of the users add up to', of_users.messages, activity.messages)
    || disagreement('user_messages of the users add up to', of_users.user_messages, activity.user_messages)
    || disagreement('tool_calls of the users add up to', of_users.tool_calls, tools.tool_calls)
    || disagreement('failed_calls of the users add up to', of_users.failed_calls, tools.failed_calls)
    || disagreement('calls_with_outcome of the users add up to', of_users.calls_with_outcome, tools.calls_with_outcome)
    || disagreement('mcp_users_with_mcp of the users add up to', of_users.mcp_users, tools.mcp_users_with_mcp)
    || disagreement('skills_invocations of the users add up to', of_users.skill_calls, tools.skills_invocations)
    || disagreement('slash_commands_invocations of the users add up to', of_users.slash_commands, tools.slash_commands_invocations)
    || disagreement('hooks_invocations of the users add up to', of_users.hooks, tools.hooks_invocations)
    || disagreement('files_created of the users add up to', of_users.files_created, productivity.files_created)
    || disagreement('files_edited of the users add up to', of_users.files_edited, productivity.files_edited)
    || disagreement('git_commits of the users add up to', of_users.git_commits, productivity.git_commits)
    || disagreement('git_prs_created of the users add up to', of_users.git_prs_created, productivity.git_prs_created)
    || disagreement('mcp_calls of the users add up to', of_users.mcp_calls, of_user_tools.mcp_calls)
    || disagreement('billable_tokens of the users add up to', of_users.billable_tokens, of_user_models.billable_tokens) AS difference
FROM due
LEFT JOIN activity USING (org_id, day)
LEFT JOIN tools USING (org_id, day)
LEFT JOIN productivity USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(CASE WHEN server_key <> '' THEN tool_calls ELSE 0 END) AS mcp_calls
  FROM user_tools
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_tools USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(billable_tokens) AS billable_tokens
  FROM user_models
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_models USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    count(*) AS users,
    sum(CASE WHEN mcp_calls > 0 THEN 1 ELSE 0 END) AS mcp_users,
    sum(sessions) AS sessions,
    sum(messages) AS messages,
    sum(user_messages) AS user_messages,
    sum(tool_calls) AS tool_calls,
    sum(failed_calls) AS failed_calls,
    sum(calls_with_outcome) AS calls_with_outcome,
    sum(mcp_calls) AS mcp_calls,
    sum(skill_calls) AS skill_calls,
    sum(slash_commands) AS slash_commands,
    sum(hooks) AS hooks,
    sum(files_created) AS files_created,
    sum(files_edited) AS files_edited,
    sum(git_commits) AS git_commits,
    sum(git_prs_created) AS git_prs_created,
    sum(billable_tokens) AS billable_tokens
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_users USING (org_id, day)
