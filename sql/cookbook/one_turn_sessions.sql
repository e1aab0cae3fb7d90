-- Which sessions ended after one turn?
--
-- One row is one user: the sessions that started in the range, how many of them had a single user turn in it, and how many of these changed no file.
-- One turn can be all that a small task needs, or a run that a program drives. Sessions that changed no file are more likely to be disappointments.
-- Grain: (user_id).
WITH
session AS (
  SELECT
    user_id,
    session_id,
    sum(user_messages) AS user_turns,
    sum(files_created + files_edited) AS files
  FROM session_parts
  WHERE day BETWEEN $from AND $to
    AND session_id <> ''
  GROUP BY
    user_id,
    session_id
  HAVING sum(sessions) > 0
    AND sum(user_messages) > 0
),
cost AS (
  SELECT
    user_id,
    session_id,
    sum(cost_usd) AS cost_usd
  FROM call_costs
  WHERE day BETWEEN $from AND $to
  GROUP BY
    user_id,
    session_id
)
SELECT
  CAST(session.user_id AS VARCHAR) AS user_id,
  CAST(count(*) AS BIGINT) AS sessions,
  CAST(count(*) FILTER (WHERE session.user_turns = 1) AS BIGINT) AS one_turn_sessions,
  CAST(count(*) FILTER (WHERE session.user_turns = 1 AND session.files = 0) AS BIGINT) AS without_a_change,
  CAST(round(CAST(count(*) FILTER (WHERE session.user_turns = 1) AS DOUBLE) / count(*), 3) AS DOUBLE) AS one_turn_ratio,
  CAST(round(coalesce(CAST(sum(cost.cost_usd) FILTER (WHERE session.user_turns = 1) AS DOUBLE), 0), 2) AS DOUBLE) AS one_turn_usd
FROM session
LEFT JOIN cost
  ON cost.user_id = session.user_id
  AND cost.session_id = session.session_id
GROUP BY session.user_id
ORDER BY
  one_turn_sessions DESC,
  user_id
