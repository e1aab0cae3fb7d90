-- One row is one day of one organization: how its agents used tools.
-- Grain: (org_id, day).
-- Looks back: 0 days.
WITH
session AS (
  SELECT
    org_id,
    day,
    count(*) AS sessions,
    sum(tool_calls) AS tool_calls,
    sum(user_turns) AS user_turns,
    p50(CASE WHEN user_turns > 0 THEN ratio(tool_calls, user_turns) END) AS autonomy_ratio_p50,
    p90(CASE WHEN user_turns > 0 THEN ratio(tool_calls, user_turns) END) AS autonomy_ratio_p90
  FROM active_sessions
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
-- Totals are of users: calls and turns can be in no session.
person AS (
  SELECT
    org_id,
    day,
    sum(tool_calls) AS tool_calls,
    sum(failed_calls) AS failed_calls,
    sum(calls_with_outcome) AS calls_with_outcome,
    sum(user_messages) AS user_turns,
    sum(CASE WHEN mcp_calls > 0 THEN 1 ELSE 0 END) AS mcp_users_with_mcp,
    sum(skill_calls) AS skills_invocations,
    sum(slash_commands) AS slash_commands_invocations,
    sum(hooks) AS hooks_invocations
  FROM users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
),
web AS (
  SELECT
    org_id,
    day,
    count(DISTINCT user_id) AS web_users
  FROM user_clients
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND client = 'web'
  GROUP BY
    org_id,
    day
),
level AS (
  SELECT
    org_id,
    day,
    sum(CASE WHEN autonomy_level <> 'unknown' THEN tool_calls ELSE 0 END) AS known,
    sum(CASE WHEN autonomy_level = 'auto_high' THEN tool_calls ELSE 0 END) AS auto_high,
    sum(CASE WHEN autonomy_level = 'auto_medium' THEN tool_calls ELSE 0 END) AS auto_medium,
    sum(CASE WHEN autonomy_level = 'auto_low' THEN tool_calls ELSE 0 END) AS auto_low,
    sum(CASE WHEN autonomy_level = 'manual' THEN tool_calls ELSE 0 END) AS manual
  FROM user_modes
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
  GROUP BY
    org_id,
    day
)
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(coalesce(person.tool_calls, 0) AS BIGINT) AS tool_calls,
  CAST(coalesce(person.failed_calls, 0) AS BIGINT) AS failed_calls,
  CAST(coalesce(person.calls_with_outcome, 0) AS BIGINT) AS calls_with_outcome,
  CAST(coalesce(person.mcp_users_with_mcp, 0) AS BIGINT) AS mcp_users_with_mcp,
  CAST(coalesce(person.skills_invocations, 0) AS BIGINT) AS skills_invocations,
  CAST(coalesce(person.slash_commands_invocations, 0) AS BIGINT) AS slash_commands_invocations,
  CAST(coalesce(person.hooks_invocations, 0) AS BIGINT) AS hooks_invocations,
  CAST(coalesce(web.web_users, 0) AS BIGINT) AS web_users,
  CAST(ratio(person.tool_calls, coalesce(person.user_turns, 0)) AS DOUBLE) AS autonomy_ratio_avg,
  CAST(coalesce(session.autonomy_ratio_p50, 0) AS DOUBLE) AS autonomy_ratio_p50,
  CAST(coalesce(session.autonomy_ratio_p90, 0) AS DOUBLE) AS autonomy_ratio_p90,
  CAST(ratio(session.tool_calls, coalesce(session.sessions, 0)) AS DOUBLE) AS tool_calls_per_session_avg,
  CAST(ratio(session.user_turns, coalesce(session.sessions, 0)) AS DOUBLE) AS user_turns_per_session_avg,
  CAST(ratio(level.auto_high, coalesce(level.known, 0)) AS DOUBLE) AS auto_high_ratio,
  CAST(ratio(level.auto_medium, coalesce(level.known, 0)) AS DOUBLE) AS auto_medium_ratio,
  CAST(ratio(level.auto_low, coalesce(level.known, 0)) AS DOUBLE) AS auto_low_ratio,
  CAST(ratio(level.manual, coalesce(level.known, 0)) AS DOUBLE) AS manual_ratio
FROM due
LEFT JOIN session USING (org_id, day)
LEFT JOIN person USING (org_id, day)
LEFT JOIN web USING (org_id, day)
LEFT JOIN level USING (org_id, day)
