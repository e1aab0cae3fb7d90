-- One row is one built day: how its agents used tools.
-- Grain: (day).
SELECT
  CAST(day AS DATE) AS day,
  CAST(tool_calls AS BIGINT) AS tool_calls,
  CAST(mcp_users_with_mcp AS BIGINT) AS mcp_users_with_mcp,
  CAST(skills_invocations AS BIGINT) AS skills_invocations,
  CAST(slash_commands_invocations AS BIGINT) AS slash_commands_invocations,
  CAST(hooks_invocations AS BIGINT) AS hooks_invocations,
  CAST(web_users AS BIGINT) AS web_users,
  CAST(autonomy_ratio_avg AS DOUBLE) AS autonomy_ratio_avg,
  CAST(autonomy_ratio_p50 AS DOUBLE) AS autonomy_ratio_p50,
  CAST(autonomy_ratio_p90 AS DOUBLE) AS autonomy_ratio_p90,
  CAST(tool_calls_per_session_avg AS DOUBLE) AS tool_calls_per_session_avg,
  CAST(user_turns_per_session_avg AS DOUBLE) AS user_turns_per_session_avg,
  CAST(auto_high_ratio AS DOUBLE) AS auto_high_ratio,
  CAST(auto_medium_ratio AS DOUBLE) AS auto_medium_ratio,
  CAST(auto_low_ratio AS DOUBLE) AS auto_low_ratio,
  CAST(manual_ratio AS DOUBLE) AS manual_ratio
FROM tools
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
ORDER BY day
