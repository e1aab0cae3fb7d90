-- Which sessions cost far more than others?
--
-- One row is one session that cost at least twice the median of the sessions that started in the range, with its results in the range.
-- An expensive session can be the best one: look at its files and commits before its price. Sessions without tokens or without a known price are left out, also from the median.
-- Grain: (user_id, session_id).
WITH
started AS (
  SELECT
    user_id,
    session_id,
    min(day) AS start_day,
    sum(user_messages) AS user_turns,
    sum(tool_calls) AS tool_calls,
    sum(files_created + files_edited) AS files,
    sum(git_commits) AS git_commits
  FROM session_parts
  WHERE day BETWEEN $from AND $to
    AND session_id <> ''
  GROUP BY
    user_id,
    session_id
  HAVING sum(sessions) > 0
),
session AS (
  SELECT
    started.user_id AS user_id,
    started.session_id AS session_id,
    started.start_day AS start_day,
    started.user_turns AS user_turns,
    started.tool_calls AS tool_calls,
    started.files AS files,
    started.git_commits AS git_commits,
    cost.cost_usd AS cost_usd
  FROM started
  JOIN (
    SELECT
      user_id,
      session_id,
      CAST(sum(cost_usd) AS DOUBLE) AS cost_usd
    FROM call_costs
    WHERE day BETWEEN $from AND $to
    GROUP BY
      user_id,
      session_id
  ) AS cost
    ON cost.user_id = started.user_id
    AND cost.session_id = started.session_id
  WHERE cost.cost_usd IS NOT NULL
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
  CAST(session.files AS BIGINT) AS files,
  CAST(session.git_commits AS BIGINT) AS git_commits
FROM session
CROSS JOIN typical
WHERE session.cost_usd >= 2 * typical.cost_usd
ORDER BY
  session.cost_usd DESC,
  session.user_id,
  session.session_id
