-- One row is one of found_work, in a group of which a request that may tell no few people apart has a row. A session that was found by several of the
-- joined groups is there once.
-- shown_cell is shown_cell.sql. quiet_day has the days that count with another one.
-- Grain: (day, group_key, user_id, session_id, agent, client, repo, tool_key, server_key).
SELECT DISTINCT
  found_work.day AS day,
  CASE WHEN $group_by <> 'none' AND shown_cell.group_key IS NULL THEN '(small groups)' ELSE found_work.group_key END AS group_key,
  found_work.user_id AS user_id,
  found_work.session_id AS session_id,
  found_work.agent AS agent,
  found_work.client AS client,
  found_work.repo AS repo,
  found_work.tool_key AS tool_key,
  found_work.server_key AS server_key,
  found_work.sessions AS sessions,
  found_work.user_turns AS user_turns,
  found_work.tool_calls AS tool_calls,
  found_work.failed_calls AS failed_calls,
  found_work.calls_with_outcome AS calls_with_outcome,
  found_work.files AS files,
  found_work.commits AS commits,
  found_work.pull_requests AS pull_requests
FROM found_work
LEFT JOIN quiet_day
  ON quiet_day.day = found_work.day
LEFT JOIN shown_cell
  ON shown_cell.period = period_of($period, coalesce(quiet_day.counted_on, found_work.day), $from)
  AND shown_cell.group_key = found_work.group_key
