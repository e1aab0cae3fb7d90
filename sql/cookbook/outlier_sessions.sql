-- Which sessions cost far more than others?
--
-- One row is one session that cost at least twice the median of the sessions that started in the range, with its results.
-- An expensive session can be the best one: look at its files and commits before its price. Sessions without a known price are left out, also from the median.
-- Grain: (user_id, session_id).
WITH
session AS (
  SELECT
    user_id,
    session_id,
    start_day,
    user_turns,
    tool_calls,
    file_changes,
    git_commits,
    CAST(cost_usd AS DOUBLE) AS cost_usd
  FROM session_facts
  WHERE start_day BETWEEN $from AND $to
    AND cost_usd IS NOT NULL
),
typical AS (
  SELECT p50(cost_usd) AS cost_usd
  FROM session
)
SELECT
  CAST(session.user_id AS VARCHAR) AS user_id,
  CAST(session.session_id AS VARCHAR) AS session_id,
  CAST(session.start_day AS DATE) AS start_day,
  CAST(round(session.cost_usd, 2) AS DOUBLE) AS cost_usd,
  CAST(round(session.cost_usd / typical.cost_usd, 1) AS DOUBLE) AS times_the_median,
  CAST(session.user_turns AS BIGINT) AS user_turns,
  CAST(session.tool_calls AS BIGINT) AS tool_calls,
  CAST(session.file_changes AS BIGINT) AS file_changes,
  CAST(session.git_commits AS BIGINT) AS git_commits
FROM session
CROSS JOIN typical
WHERE session.cost_usd >= 2 * typical.cost_usd
ORDER BY
  session.cost_usd DESC,
  session.user_id,
  session.session_id
