-- One row is one person whose mark somebody has hidden in a run that began by the day $to: up to which day it was seen at least, by whom and when
-- it was hidden last. It hides a run that began by that day.
-- Grain: (user_id).
SELECT
  user_id,
  max(day) AS seen_day,
  max(CASE WHEN place = 1 THEN author END) AS hidden_by,
  max(hidden_at) AS hidden_at
FROM (
  SELECT
    user_id,
    day,
    author,
    hidden_at,
    row_number() OVER (PARTITION BY user_id ORDER BY hidden_at DESC, author) AS place
  FROM hidden_marks
  WHERE org_id = $org_id
    AND since <= $to
) AS hidden
GROUP BY user_id
