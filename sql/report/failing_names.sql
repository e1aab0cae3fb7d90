-- One row is one MCP server, or one tool of none, that fails as of the day $to. Its run are the weekdays on which it was called, back from the
-- last one, as long as at least four in five have a share of failed calls of 20%; it begins on such a day. It fails if the run's share is at least
-- that, and three times the share of the 20 weekdays with calls before the run, in at least 50 calls of at least 3 users with a failed one. There
-- must be five weekdays before the run: a tool that has always failed as often doesn't count.
-- Grain: (kind, name).
-- Looks back: 180 days.
WITH
failing_unit_user AS (
  SELECT
    CASE WHEN server_key <> '' THEN 'mcp_server' ELSE 'tool' END AS kind,
    CASE WHEN server_key <> '' THEN server_key ELSE tool_key END AS name,
    day,
    user_id,
    sum(failed_calls) AS failed,
    sum(calls_with_outcome) AS calls
  FROM user_tools
  WHERE org_id = $org_id
    AND day BETWEEN $earliest AND $to
    AND calls_with_outcome > 0
    AND is_weekday(day)
  GROUP BY
    CASE WHEN server_key <> '' THEN 'mcp_server' ELSE 'tool' END,
    CASE WHEN server_key <> '' THEN server_key ELSE tool_key END,
    day,
    user_id
),
failing_unit_day AS (
  SELECT
    kind,
    name,
    day,
    CASE WHEN sum(failed) * 5 >= sum(calls) THEN 1 ELSE 0 END AS is_bad,
    sum(failed) AS failed,
    sum(calls) AS calls
  FROM failing_unit_user
  GROUP BY
    kind,
    name,
    day
),
failing_unit_placed AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY kind, name ORDER BY day DESC) AS place,
    sum(is_bad) OVER (PARTITION BY kind, name ORDER BY day DESC) AS bad_days
  FROM failing_unit_day
),
failing_unit_run AS (
  SELECT
    kind,
    name,
    min(day) AS since,
    max(place) AS run_days
  FROM (
    SELECT
      *,
      min(CASE WHEN place >= 5 AND bad_days * 5 < place * 4 THEN place END) OVER (PARTITION BY kind, name) AS broken_at,
      max(day) OVER (PARTITION BY kind, name) AS last_day
    FROM failing_unit_placed
  ) AS reached
  WHERE is_bad = 1
    AND place < coalesce(broken_at, 1000)
    AND last_day >= $to - 13
  GROUP BY
    kind,
    name
),
failing_unit_share AS (
  SELECT
    run.kind AS kind,
    run.name AS name,
    run.since AS since,
    run.run_days AS run_days,
    sum(CASE WHEN day.place <= run.run_days THEN day.failed ELSE 0 END) AS failed,
    sum(CASE WHEN day.place <= run.run_days THEN day.calls ELSE 0 END) AS calls,
    sum(CASE WHEN day.place > run.run_days THEN day.failed ELSE 0 END) AS failed_before,
    sum(CASE WHEN day.place > run.run_days THEN day.calls ELSE 0 END) AS calls_before,
    sum(CASE WHEN day.place > run.run_days THEN 1 ELSE 0 END) AS days_before
  FROM failing_unit_run AS run
  JOIN failing_unit_placed AS day
    ON day.kind = run.kind
    AND day.name = run.name
    AND day.place <= run.run_days + 20
  GROUP BY
    run.kind,
    run.name,
    run.since,
    run.run_days
),
failing_unit_people AS (
  SELECT
    run.kind AS kind,
    run.name AS name,
    count(DISTINCT called.user_id) AS users
  FROM failing_unit_run AS run
  JOIN failing_unit_user AS called
    ON called.kind = run.kind
    AND called.name = run.name
    AND called.day >= run.since
  WHERE called.failed > 0
  GROUP BY
    run.kind,
    run.name
)
SELECT
  CAST(share.kind AS VARCHAR) AS kind,
  CAST(share.name AS VARCHAR) AS name,
  CAST(share.since AS DATE) AS since,
  CAST(share.run_days AS BIGINT) AS run_days,
  CAST(people.users AS BIGINT) AS users,
  CAST(share.failed AS BIGINT) AS failed_calls,
  CAST(share.calls AS BIGINT) AS calls_with_outcome,
  CAST(ratio(share.failed, share.calls) AS DOUBLE) AS failed_call_ratio,
  CAST(ratio(share.failed_before, share.calls_before) AS DOUBLE) AS ratio_before
FROM failing_unit_share AS share
JOIN failing_unit_people AS people
  ON people.kind = share.kind
  AND people.name = share.name
WHERE share.calls >= 50
  AND people.users >= 3
  AND share.days_before >= 5
  AND share.failed * 5 >= share.calls
  AND ratio(share.failed, share.calls) >= 3 * ratio(share.failed_before, share.calls_before)
