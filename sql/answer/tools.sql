-- One row is one built day: how its agents used tools.
-- Grain: (date).
-- Shown first: date, tool_calls, by_tool, autonomy_ratio_avg, mcp_by_server, skills_by_name, slash_commands_by_name, hooks_by_event,
-- tool_autonomy_level_ratio.
WITH tools_of_day AS (
  SELECT
    day,
    list(
      {
        'tool': CAST(tool_key AS VARCHAR),  -- the tool, e.g. Edit
        'invocations': CAST(tool_calls AS BIGINT),  -- its calls, e.g. 64
        'failed_calls': CAST(failed_calls AS BIGINT),  -- those that failed: refused and interrupted ones haven't, e.g. 3
        'calls_with_outcome': CAST(calls_with_outcome AS BIGINT)  -- those that are known to have succeeded or failed, e.g. 60
      }
      ORDER BY tool_calls DESC, tool_key
    ) AS by_tool
  FROM report_tools_by_tool
  GROUP BY day
),
servers_of_day AS (
  SELECT
    day,
    list(
      {
        'server': CAST(server_key AS VARCHAR),  -- the MCP server, in lower case, e.g. github
        'invocations': CAST(tool_calls AS BIGINT),  -- calls of its tools, e.g. 12
        'failed_calls': CAST(failed_calls AS BIGINT),  -- those that failed: refused and interrupted ones haven't, e.g. 1
        'calls_with_outcome': CAST(calls_with_outcome AS BIGINT)  -- those that are known to have succeeded or failed, e.g. 12
      }
      ORDER BY tool_calls DESC, server_key
    ) AS mcp_by_server
  FROM report_tools_by_server
  GROUP BY day
),
skills_of_day AS (
  SELECT
    day,
    list(
      {
        'name': CAST(skill_name AS VARCHAR),  -- the skill, e.g. release-notes
        'count': CAST(uses AS BIGINT)  -- number of uses, e.g. 4
      }
      ORDER BY uses DESC, skill_name
    ) AS skills_by_name
  FROM report_tools_by_skill
  GROUP BY day
),
slash_commands_of_day AS (
  SELECT
    day,
    list(
      {
        'name': CAST(command_name AS VARCHAR),  -- the command, without its slash, e.g. review
        'count': CAST(uses AS BIGINT)  -- number of uses, e.g. 9
      }
      ORDER BY uses DESC, command_name
    ) AS slash_commands_by_name
  FROM report_tools_by_slash_command
  GROUP BY day
),
hooks_of_day AS (
  SELECT
    day,
    list(
      {
        'event': CAST(hook_event AS VARCHAR),  -- event of the hook, e.g. PostToolUse
        'matcher': CAST(matcher AS VARCHAR),  -- matcher of the hook, empty if it matches everything, e.g. Edit
        'command': CAST(command AS VARCHAR),  -- the command, e.g. npm run format
        'count': CAST(runs AS BIGINT)  -- number of runs, e.g. 23
      }
      ORDER BY runs DESC, hook_event, matcher, command
    ) AS hooks_by_event
  FROM report_tools_by_hook
  GROUP BY day
)
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(tool_calls AS BIGINT) AS tool_calls,  -- calls of tools, e.g. 171
  CAST(failed_calls AS BIGINT) AS failed_calls,  -- failed tool calls: refused and interrupted ones haven't failed, e.g. 8
  CAST(calls_with_outcome AS BIGINT) AS calls_with_outcome,  -- tool calls that are known to have succeeded or failed, e.g. 160
  coalesce(by_tool, []) AS by_tool,
  CAST(mcp_users_with_mcp AS BIGINT) AS mcp_users_with_mcp,  -- users who called an MCP tool, e.g. 3
  coalesce(mcp_by_server, []) AS mcp_by_server,
  CAST(skills_invocations AS BIGINT) AS skills_invocations,  -- skills used, e.g. 4
  coalesce(skills_by_name, []) AS skills_by_name,
  CAST(slash_commands_invocations AS BIGINT) AS slash_commands_invocations,  -- slash commands used, e.g. 9
  coalesce(slash_commands_by_name, []) AS slash_commands_by_name,
  CAST(hooks_invocations AS BIGINT) AS hooks_invocations,  -- hook commands that ran, e.g. 23
  coalesce(hooks_by_event, []) AS hooks_by_event,
  CAST(web_users AS BIGINT) AS web_users,  -- users of the web app, e.g. 2
  CAST(autonomy_ratio_avg AS DOUBLE) AS autonomy_ratio_avg,  -- tool calls per user turn, e.g. 6.5
  CAST(autonomy_ratio_p50 AS DOUBLE) AS autonomy_ratio_p50,  -- median of tool calls per user turn over the sessions of the day, e.g. 5
  CAST(autonomy_ratio_p90 AS DOUBLE) AS autonomy_ratio_p90,  -- 90th percentile of the same ratios, e.g. 11.2
  CAST(tool_calls_per_session_avg AS DOUBLE) AS tool_calls_per_session_avg,  -- tool calls per session, e.g. 13
  CAST(user_turns_per_session_avg AS DOUBLE) AS user_turns_per_session_avg,  -- user turns per session, e.g. 2
  {
    'auto_high': CAST(auto_high_ratio AS DOUBLE),  -- share of auto-high, e.g. 0.25
    'auto_medium': CAST(auto_medium_ratio AS DOUBLE),  -- share of auto-medium, e.g. 0.25
    'auto_low': CAST(auto_low_ratio AS DOUBLE),  -- share of auto-low, e.g. 0.5
    'manual': CAST(manual_ratio AS DOUBLE)  -- share of manual, e.g. 0
  } AS tool_autonomy_level_ratio  -- shares of tool calls by the autonomy mode in which they were made
FROM report_tools
LEFT JOIN tools_of_day USING (day)
LEFT JOIN servers_of_day USING (day)
LEFT JOIN skills_of_day USING (day)
LEFT JOIN slash_commands_of_day USING (day)
LEFT JOIN hooks_of_day USING (day)
ORDER BY date
