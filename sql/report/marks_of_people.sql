-- One row is one person who is stuck as of the day $to, see stuck_people.sql, with the team of that day; the one with the most failed calls first.
-- $reader chooses one person, unless it is null, who isn't told the median of fewer than 10 people. belongs_to is belongs_to.sql,
-- and mark_hiding mark_hiding.sql.
-- Grain: (user_id).
SELECT
  stuck_people.user_id AS user_id,
  coalesce(team.name, '') AS team,
  stuck_people.since AS since,
  stuck_people.run_days AS run_days,
  stuck_people.failed_calls AS failed_calls,
  stuck_people.calls_with_outcome AS calls_with_outcome,
  stuck_people.failed_call_ratio AS failed_call_ratio,
  stuck_people.ratio_before AS ratio_before,
  CASE WHEN $reader IS NULL OR stuck_people.people >= 10 THEN stuck_people.ratio_of_all END AS ratio_of_all,
  stuck_people.people AS people,
  stuck_people.days_before AS days_before,
  stuck_people.commit_days_before AS commit_days_before,
  stuck_people.last_commit_day AS last_commit_day,
  stuck_people.commits_stopped AS commits_stopped,
  stuck_people.toolless_ratio AS toolless_ratio,
  stuck_people.toolless_ratio_before AS toolless_ratio_before,
  CASE WHEN hiding.seen_day >= stuck_people.since THEN hiding.hidden_by END AS hidden_by,
  CASE WHEN hiding.seen_day >= stuck_people.since THEN hiding.hidden_at END AS hidden_at
FROM stuck_people
LEFT JOIN belongs_to AS team
  ON team.kind = 'team'
  AND team.user_id = stuck_people.user_id
  AND team.first_day <= $to
  AND team.last_day >= $to
LEFT JOIN mark_hiding AS hiding
  ON hiding.user_id = stuck_people.user_id
WHERE $reader IS NULL
  OR stuck_people.user_id = $reader
ORDER BY
  stuck_people.failed_calls DESC,
  stuck_people.user_id
