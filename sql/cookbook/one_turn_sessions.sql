-- Which sessions ended after one turn?
--
-- One row is one user: the sessions that started in the range, how many of them had a single user turn, and how many of these changed no file.
-- One turn can be all that a small task needs, or a run that a program drives. Sessions that changed no file are more likely to be disappointments.
-- Grain: (user_id).
SELECT
  CAST(user_id AS VARCHAR) AS user_id,
  CAST(count(*) AS BIGINT) AS sessions,
  CAST(count(*) FILTER (WHERE user_turns = 1) AS BIGINT) AS one_turn_sessions,
  CAST(count(*) FILTER (WHERE user_turns = 1 AND file_changes = 0) AS BIGINT) AS without_a_change,
  CAST(round(CAST(count(*) FILTER (WHERE user_turns = 1) AS DOUBLE) / count(*), 3) AS DOUBLE) AS one_turn_ratio,
  CAST(round(coalesce(CAST(sum(cost_usd) FILTER (WHERE user_turns = 1) AS DOUBLE), 0), 2) AS DOUBLE) AS one_turn_usd
FROM session_facts
WHERE start_day BETWEEN $from AND $to
  AND user_turns > 0
GROUP BY user_id
ORDER BY
  one_turn_sessions DESC,
  user_id
