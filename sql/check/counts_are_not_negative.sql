-- No count, ratio or average is below 0, infinite or not a number.
-- A double must lie between two numbers. NaN doesn't in any engine, wherever the engine sorts it.
-- "npm run docs" writes this file from sql/schema.
SELECT DISTINCT
  org_id,
  day,
  'a number of user_sessions' AS difference
FROM user_sessions
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    events >= 0
    AND tool_calls >= 0
    AND user_turns >= 0
    AND assistant_messages >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of auxiliary_usage' AS difference
FROM auxiliary_usage
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    input_tokens >= 0
    AND output_tokens >= 0
    AND cache_read_tokens >= 0
    AND cache_write_tokens >= 0
    AND cache_write_1h_tokens >= 0
    AND web_searches >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of coverage' AS difference
FROM coverage
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    events >= 0
    AND shadowed >= 0
    AND tokens >= 0
    AND user_turns >= 0
    AND costed_calls >= 0
    AND transcripts_deleted >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of vendor_lines' AS difference
FROM vendor_lines
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    lines >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of session_tools' AS difference
FROM session_tools
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    tool_calls >= 0
    AND failed_calls >= 0
    AND calls_with_outcome >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_clients' AS difference
FROM user_clients
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    events >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_modes' AS difference
FROM user_modes
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    tool_calls >= 0
    AND user_turns >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of session_models' AS difference
FROM session_models
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    prompt_class >= 0
    AND is_reported >= 0
    AND is_unsplit >= 0
    AND is_on_rate_card >= 0
    AND calls >= 0
    AND input_tokens >= 0
    AND output_tokens >= 0
    AND cache_read_tokens >= 0
    AND cache_write_tokens >= 0
    AND cache_write_1h_tokens >= 0
    AND web_searches >= 0
    AND billable_tokens >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of session_parts' AS difference
FROM session_parts
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    sessions >= 0
    AND user_messages >= 0
    AND assistant_messages >= 0
    AND tool_calls >= 0
    AND failed_calls >= 0
    AND calls_with_outcome >= 0
    AND files_created >= 0
    AND files_edited >= 0
    AND git_commits >= 0
    AND git_prs_created >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_hooks' AS difference
FROM user_hooks
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    runs >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_skills' AS difference
FROM user_skills
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    uses >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_slash_commands' AS difference
FROM user_slash_commands
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    uses >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_tools' AS difference
FROM user_tools
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    tool_calls >= 0
    AND failed_calls >= 0
    AND calls_with_outcome >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_extensions' AS difference
FROM user_extensions
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    files_created >= 0
    AND files_edited >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_models' AS difference
FROM user_models
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    is_on_rate_card >= 0
    AND calls >= 0
    AND input_tokens >= 0
    AND output_tokens >= 0
    AND cache_read_tokens >= 0
    AND cache_write_tokens >= 0
    AND cache_write_1h_tokens >= 0
    AND billable_tokens >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of quality' AS difference
FROM quality
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    events >= 0
    AND shadowed >= 0
    AND parse_artifacts >= 0
    AND events_without_client >= 0
    AND events_without_autonomy_mode >= 0
    AND events_without_user >= 0
    AND models_not_on_rate_card >= 0
    AND incomplete_sessions >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of user_agents' AS difference
FROM user_agents
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    tool_calls >= 0
    AND failed_calls >= 0
    AND calls_with_outcome >= 0
    AND billable_tokens >= 0
    AND files_created >= 0
    AND files_edited >= 0
    AND git_commits >= 0
    AND git_prs_created >= 0
    AND mcp_calls >= 0
    AND skill_calls >= 0
    AND slash_commands >= 0
    AND hooks >= 0
    AND sessions >= 0
    AND messages >= 0
    AND user_messages >= 0
    AND assistant_messages >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of users' AS difference
FROM users
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    tool_calls >= 0
    AND failed_calls >= 0
    AND calls_with_outcome >= 0
    AND billable_tokens >= 0
    AND files_created >= 0
    AND files_edited >= 0
    AND git_commits >= 0
    AND git_prs_created >= 0
    AND mcp_calls >= 0
    AND skill_calls >= 0
    AND slash_commands >= 0
    AND hooks >= 0
    AND sessions >= 0
    AND messages >= 0
    AND user_messages >= 0
    AND assistant_messages >= 0
    AND autonomy_ratio BETWEEN 0 AND 1e18
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of activity' AS difference
FROM activity
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    daily_active_users >= 0
    AND weekly_active_users >= 0
    AND monthly_active_users >= 0
    AND sessions >= 0
    AND messages >= 0
    AND user_messages >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of productivity' AS difference
FROM productivity
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    files_created >= 0
    AND files_edited >= 0
    AND git_commits >= 0
    AND git_prs_created >= 0
  )
UNION ALL
SELECT DISTINCT
  org_id,
  day,
  'a number of tools' AS difference
FROM tools
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  AND NOT (
    tool_calls >= 0
    AND failed_calls >= 0
    AND calls_with_outcome >= 0
    AND mcp_users_with_mcp >= 0
    AND skills_invocations >= 0
    AND slash_commands_invocations >= 0
    AND hooks_invocations >= 0
    AND web_users >= 0
    AND autonomy_ratio_avg BETWEEN 0 AND 1e18
    AND autonomy_ratio_p50 BETWEEN 0 AND 1e18
    AND autonomy_ratio_p90 BETWEEN 0 AND 1e18
    AND tool_calls_per_session_avg BETWEEN 0 AND 1e18
    AND user_turns_per_session_avg BETWEEN 0 AND 1e18
    AND auto_high_ratio BETWEEN 0 AND 1e18
    AND auto_medium_ratio BETWEEN 0 AND 1e18
    AND auto_low_ratio BETWEEN 0 AND 1e18
    AND manual_ratio BETWEEN 0 AND 1e18
  )
