-- One row is one built day: how its agents used tools.
-- Grain: (date).
WITH tools_of_day AS (
  SELECT
    day,
    list({ 'tool': CAST(tool_key AS VARCHAR), 'invocations': CAST(tool_calls AS BIGINT) } ORDER BY tool_calls DESC, tool_key) AS by_tool
  FROM report_tools_by_tool
  GROUP BY day
),
servers_of_day AS (
  SELECT
    day,
    list({ 'server': CAST(server_key AS VARCHAR), 'invocations': CAST(tool_calls AS BIGINT) } ORDER BY tool_calls DESC, server_key) AS mcp_by_server
  FROM report_tools_by_server
  GROUP BY day
),
skills_of_day AS (
  SELECT
    day,
    list({ 'name': CAST(skill_name AS VARCHAR), 'count': CAST(uses AS BIGINT) } ORDER BY uses DESC, skill_name) AS skills_by_name
  FROM report_tools_by_skill
  GROUP BY day
),
slash_commands_of_day AS (
  SELECT
    day,
    list({ 'name': CAST(command_name AS VARCHAR), 'count': CAST(uses AS BIGINT) } ORDER BY uses DESC, command_name) AS slash_commands_by_name
  FROM report_tools_by_slash_command
  GROUP BY day
),
hooks_of_day AS (
  SELECT
    day,
    list(
      {
        'event': CAST(hook_event AS VARCHAR),
        'matcher': CAST(matcher AS VARCHAR),
        'command': CAST(command AS VARCHAR),
        'count': CAST(runs AS BIGINT)
      }
      ORDER BY runs DESC, hook_event, matcher, command
    ) AS hooks_by_event
  FROM report_tools_by_hook
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,
  CAST(tool_calls AS BIGINT) AS tool_calls,
  coalesce(by_tool, []) AS by_tool,
  CAST(mcp_users_with_mcp AS BIGINT) AS mcp_users_with_mcp,
  coalesce(mcp_by_server, []) AS mcp_by_server,
  CAST(skills_invocations AS BIGINT) AS skills_invocations,
  coalesce(skills_by_name, []) AS skills_by_name,
  CAST(slash_commands_invocations AS BIGINT) AS slash_commands_invocations,
  coalesce(slash_commands_by_name, []) AS slash_commands_by_name,
  CAST(hooks_invocations AS BIGINT) AS hooks_invocations,
  coalesce(hooks_by_event, []) AS hooks_by_event,
  CAST(web_users AS BIGINT) AS web_users,
  CAST(autonomy_ratio_avg AS DOUBLE) AS autonomy_ratio_avg,
  CAST(autonomy_ratio_p50 AS DOUBLE) AS autonomy_ratio_p50,
  CAST(autonomy_ratio_p90 AS DOUBLE) AS autonomy_ratio_p90,
  CAST(tool_calls_per_session_avg AS DOUBLE) AS tool_calls_per_session_avg,
  CAST(user_turns_per_session_avg AS DOUBLE) AS user_turns_per_session_avg,
  {
    'auto_high': CAST(auto_high_ratio AS DOUBLE),
    'auto_medium': CAST(auto_medium_ratio AS DOUBLE),
    'auto_low': CAST(auto_low_ratio AS DOUBLE),
    'manual': CAST(manual_ratio AS DOUBLE)
  } AS tool_autonomy_level_ratio
FROM report_tools
LEFT JOIN tools_of_day USING (day)
LEFT JOIN servers_of_day USING (day)
LEFT JOIN skills_of_day USING (day)
LEFT JOIN slash_commands_of_day USING (day)
LEFT JOIN hooks_of_day USING (day)
ORDER BY date
