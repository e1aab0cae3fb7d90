-- One row is one person who is stuck with an agent as of the day $to: how the agent fares, not how the person works.
--
-- The run are the weekdays on which the person had calls with an outcome, back from the last one, as long as at least four in five of them have
-- a share of failed calls of a quarter; it begins on such a day. Marked is who has a run of 5 days and 100 calls whose share, by the lower end of
-- Wilson's interval, is above a quarter, above three times the median of all people with 100 calls in their last 10 weekdays, and above three times the
-- own share in the 20 weekdays before the run. The person's commits must have stopped, or turns in sessions without tools must have tripled:
-- no commit in the last 5 active weekdays, after some on a quarter of those 20, which is never so where commits aren't reported; or three times
-- the share of turns in those 20, in 10 turns of the last 5 active weekdays.
-- Calls of what fails for 5 people or more (failing_names.sql) count for nobody, from the first day of its run. Nobody is stuck in the first 10 days.
-- Grain: (user_id).
-- Looks back: 180 days.
WITH
-- What fails for many says nothing of one of them.
excused AS (
  SELECT
    called.user_id AS user_id,
    called.day AS day,
    sum(called.failed_calls) AS failed,
    sum(called.calls_with_outcome) AS calls
  FROM user_tools AS called
  JOIN failing_names AS failing
    ON failing.name = CASE WHEN called.server_key <> '' THEN called.server_key ELSE called.tool_key END
    AND failing.kind = CASE WHEN called.server_key <> '' THEN 'mcp_server' ELSE 'tool' END
  WHERE called.org_id = $org_id
    AND called.day BETWEEN $earliest AND $to
    AND called.day >= failing.since
    AND failing.users >= 5
  GROUP BY
    called.user_id,
    called.day
),
active_weekday AS (
  SELECT
    active.user_id AS user_id,
    active.day AS day,
    active.git_commits AS commits,
    active.failed_calls - coalesce(excused.failed, 0) AS failed,
    active.calls_with_outcome - coalesce(excused.calls, 0) AS calls,
    row_number() OVER (PARTITION BY active.user_id ORDER BY active.day DESC) AS active_place
  FROM users AS active
  LEFT JOIN excused
    ON excused.user_id = active.user_id
    AND excused.day = active.day
  WHERE active.org_id = $org_id
    AND active.day BETWEEN $earliest AND $to
    AND active.user_id <> 'unknown'
    AND is_weekday(active.day)
),
outcome_day AS (
  SELECT
    user_id,
    day,
    failed,
    calls,
    CASE WHEN failed * 4 >= calls THEN 1 ELSE 0 END AS is_bad,
    row_number() OVER (PARTITION BY user_id ORDER BY day DESC) AS place
  FROM active_weekday
  WHERE calls > 0
),
compared AS (
  SELECT
    p50(failed_share) AS ratio_of_all,
    count(*) AS people
  FROM (
    SELECT
      user_id,
      ratio(sum(failed), sum(calls)) AS failed_share
    FROM outcome_day
    WHERE place <= 10
    GROUP BY user_id
    HAVING sum(calls) >= 100
  ) AS person
),
run AS (
  SELECT
    user_id,
    min(day) AS since,
    max(place) AS run_days
  FROM (
    SELECT
      *,
      min(CASE WHEN place >= 5 AND bad_days * 5 < place * 4 THEN place END) OVER (PARTITION BY user_id) AS broken_at,
      max(day) OVER (PARTITION BY user_id) AS last_day
    FROM (
      SELECT
        *,
        sum(is_bad) OVER (PARTITION BY user_id ORDER BY day DESC) AS bad_days
      FROM outcome_day
    ) AS counted
  ) AS reached
  WHERE is_bad = 1
    AND place < coalesce(broken_at, 1000)
    AND last_day >= $to - 13
  GROUP BY user_id
  HAVING max(place) >= 5
),
run_share AS (
  SELECT
    run.user_id AS user_id,
    run.since AS since,
    run.run_days AS run_days,
    sum(CASE WHEN outcome_day.place <= run.run_days THEN outcome_day.failed ELSE 0 END) AS failed,
    sum(CASE WHEN outcome_day.place <= run.run_days THEN outcome_day.calls ELSE 0 END) AS calls,
    sum(CASE WHEN outcome_day.place > run.run_days THEN outcome_day.failed ELSE 0 END) AS failed_before,
    sum(CASE WHEN outcome_day.place > run.run_days THEN outcome_day.calls ELSE 0 END) AS calls_before
  FROM run
  JOIN outcome_day
    ON outcome_day.user_id = run.user_id
    AND outcome_day.place <= run.run_days + 20
  GROUP BY
    run.user_id,
    run.since,
    run.run_days
),
candidate AS (
  SELECT
    run_share.*,
    compared.ratio_of_all AS ratio_of_all,
    compared.people AS people
  FROM run_share
  CROSS JOIN compared
  WHERE run_share.calls >= 100
    AND run_share.calls_before > 0
    AND wilson_low(run_share.failed, run_share.calls) > 0.25
    AND wilson_low(run_share.failed, run_share.calls) > 3 * compared.ratio_of_all
    AND wilson_low(run_share.failed, run_share.calls) > 3 * ratio(run_share.failed_before, run_share.calls_before)
),
-- The last 5 active weekdays, and the 20 before the run.
candidate_day AS (
  SELECT
    candidate.user_id AS user_id,
    candidate.since AS since,
    active_weekday.day AS day,
    active_weekday.commits AS commits,
    CASE WHEN active_weekday.active_place <= 5 THEN 1 ELSE 0 END AS is_last,
    CASE
      WHEN active_weekday.day < candidate.since
        AND row_number() OVER (
          PARTITION BY candidate.user_id, CASE WHEN active_weekday.day < candidate.since THEN 1 ELSE 0 END
          ORDER BY active_weekday.day DESC
        ) <= 20
        THEN 1
      ELSE 0
    END AS is_before
  FROM candidate
  JOIN active_weekday
    ON active_weekday.user_id = candidate.user_id
),
turn_day AS (
  SELECT
    user_id,
    day,
    sum(turns) AS turns,
    sum(CASE WHEN calls = 0 THEN turns ELSE 0 END) AS turns_without_tools
  FROM (
    SELECT
      user_id,
      day,
      session_id,
      sum(user_turns) AS turns,
      sum(tool_calls) AS calls
    FROM user_sessions
    WHERE org_id = $org_id
      AND day BETWEEN $earliest AND $to
      AND user_id IN (SELECT user_id FROM candidate)
    GROUP BY
      user_id,
      day,
      session_id
  ) AS session
  GROUP BY
    user_id,
    day
),
evidence AS (
  SELECT
    candidate_day.user_id AS user_id,
    sum(candidate_day.is_before) AS days_before,
    sum(CASE WHEN candidate_day.is_before = 1 AND candidate_day.commits > 0 THEN 1 ELSE 0 END) AS commit_days_before,
    sum(candidate_day.is_last * candidate_day.commits) AS last_commits,
    max(CASE WHEN candidate_day.commits > 0 THEN candidate_day.day END) AS last_commit_day,
    sum(candidate_day.is_last * coalesce(turn_day.turns, 0)) AS turns,
    sum(candidate_day.is_last * coalesce(turn_day.turns_without_tools, 0)) AS turns_without_tools,
    sum(candidate_day.is_before * coalesce(turn_day.turns, 0)) AS turns_before,
    sum(candidate_day.is_before * coalesce(turn_day.turns_without_tools, 0)) AS turns_without_tools_before
  FROM candidate_day
  LEFT JOIN turn_day
    ON turn_day.user_id = candidate_day.user_id
    AND turn_day.day = candidate_day.day
  GROUP BY candidate_day.user_id
)
SELECT
  CAST(candidate.user_id AS VARCHAR) AS user_id,
  CAST(candidate.since AS DATE) AS since,
  CAST(candidate.run_days AS BIGINT) AS run_days,
  CAST(candidate.failed AS BIGINT) AS failed_calls,
  CAST(candidate.calls AS BIGINT) AS calls_with_outcome,
  CAST(ratio(candidate.failed, candidate.calls) AS DOUBLE) AS failed_call_ratio,
  CAST(ratio(candidate.failed_before, candidate.calls_before) AS DOUBLE) AS ratio_before,
  CAST(candidate.ratio_of_all AS DOUBLE) AS ratio_of_all,
  CAST(candidate.people AS BIGINT) AS people,
  CAST(evidence.days_before AS BIGINT) AS days_before,
  CAST(evidence.commit_days_before AS BIGINT) AS commit_days_before,
  CAST(evidence.last_commit_day AS DATE) AS last_commit_day,
  CAST(CASE WHEN evidence.last_commits = 0 AND evidence.commit_days_before * 4 >= evidence.days_before THEN 1 ELSE 0 END AS BIGINT) AS commits_stopped,
  CAST(share_of(evidence.turns_without_tools, evidence.turns) AS DOUBLE) AS toolless_ratio,
  CAST(share_of(evidence.turns_without_tools_before, evidence.turns_before) AS DOUBLE) AS toolless_ratio_before
FROM candidate
JOIN evidence
  ON evidence.user_id = candidate.user_id
WHERE evidence.days_before >= 10
  AND (
    evidence.last_commits = 0 AND evidence.commit_days_before * 4 >= evidence.days_before
    OR evidence.turns_without_tools >= 10
    AND share_of(evidence.turns_without_tools, evidence.turns) >= 3 * share_of(evidence.turns_without_tools_before, evidence.turns_before)
  )
ORDER BY
  candidate.failed DESC,
  candidate.user_id
