-- One row is one MCP server or tool that fails as of the day $to, see failing_names.sql; the one with the most failed calls first. Whoever may not
-- see people by name ($floor above 1) gets no counts of calls: the difference of two days would be the calls of few.
-- Grain: (kind, name).
SELECT
  kind,
  name,
  since,
  run_days,
  users,
  CASE WHEN $floor = 1 THEN failed_calls END AS failed_calls,
  CASE WHEN $floor = 1 THEN calls_with_outcome END AS calls_with_outcome,
  failed_call_ratio,
  ratio_before
FROM failing_names
WHERE users >= $floor
ORDER BY
  failing_names.failed_calls DESC,
  kind,
  name
