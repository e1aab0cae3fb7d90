-- Groups add up to the ungrouped number.
SELECT
  due.org_id AS org_id,
  due.day AS day,
  disagreement('tool_calls by tool adds up to', of_user_tools.tool_calls, tools.tool_calls)
    || disagreement('failed_calls by tool adds up to', of_user_tools.failed_calls, tools.failed_calls)
    || disagreement('calls_with_outcome by tool adds up to', of_user_tools.calls_with_outcome, tools.calls_with_outcome)
    || disagreement('tool_calls by autonomy mode adds up to', of_user_modes.tool_calls, tools.tool_calls)
    || disagreement('tool_calls by session adds up to', of_user_sessions.tool_calls, tools.tool_calls)
    || disagreement('mcp_users_with_mcp by server adds up to', of_user_tools.mcp_users, tools.mcp_users_with_mcp)
    || disagreement('skills_invocations by name adds up to', of_user_skills.uses, tools.skills_invocations)
    || disagreement('slash_commands_invocations by name adds up to', of_user_slash_commands.uses, tools.slash_commands_invocations)
    || disagreement('hooks_invocations by event adds up to', of_user_hooks.runs, tools.hooks_invocations)
    || disagreement('web_users by client adds up to', of_user_clients.web_users, tools.web_users)
    || disagreement('daily_active_users by session adds up to', of_user_sessions.users, activity.daily_active_users)
    || disagreement('user_messages by autonomy mode adds up to', of_user_modes.user_turns, activity.user_messages)
    || disagreement('user_messages by session adds up to', of_user_sessions.user_turns, activity.user_messages)
    || disagreement('files_created by extension adds up to', of_user_extensions.files_created, productivity.files_created)
    || disagreement('files_edited by extension adds up to', of_user_extensions.files_edited, productivity.files_edited)
    || disagreement('events by session adds up to', of_user_sessions.events, quality.events)
    || disagreement('events by client adds up to', of_user_clients.events, quality.events - quality.events_without_client) AS difference
FROM due
LEFT JOIN tools USING (org_id, day)
LEFT JOIN activity USING (org_id, day)
LEFT JOIN productivity USING (org_id, day)
LEFT JOIN quality USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(tool_calls) AS tool_calls,
    sum(failed_calls) AS failed_calls,
    sum(calls_with_outcome) AS calls_with_outcome,
    count(DISTINCT CASE WHEN server_key <> '' THEN user_id END) AS mcp_users
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
    sum(tool_calls) AS tool_calls,
    sum(user_turns) AS user_turns
  FROM user_modes
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_modes USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(events) AS events,
    sum(tool_calls) AS tool_calls,
    sum(user_turns) AS user_turns,
    count(DISTINCT user_id) AS users
  FROM user_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_sessions USING (org_id, day)
LEFT JOIN (
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
) AS of_user_clients USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(uses) AS uses
  FROM user_skills
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_skills USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(uses) AS uses
  FROM user_slash_commands
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_slash_commands USING (org_id, day)
LEFT JOIN (
  SELECT
    org_id,
    day,
    sum(runs) AS runs
  FROM user_hooks
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
) AS of_user_hooks USING (org_id, day)
LEFT JOIN (
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
) AS of_user_extensions USING (org_id, day)
