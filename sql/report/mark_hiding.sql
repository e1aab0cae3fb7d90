-- One row is one person whose mark somebody has hidden in a run that began by the day $to: up to which day it was seen at least, by whom and when
-- it was hidden last. It hides a run that began by that day.
-- Grain: (user_id).
SELECT
  user_id,
  max(day) AS seen_day,
  argMax(author, hidden_at) AS hidden_by,
  max(hidden_at) AS hidden_at
FROM hidden_marks
WHERE org_id = $org_id
  AND since <= $to
GROUP BY user_id
