-- One row is one channel that reported one agent of one user of a page on one day.
-- Grain: (user_id, day, agent, channel).
SELECT
  *,
  CAST(channel_rank(channel) AS BIGINT) AS place
FROM coverage
WHERE org_id = $org_id
  AND day BETWEEN $from AND $to
  AND user_id BETWEEN $first_user_id AND $last_user_id
  AND ($user_id IS NULL OR user_id IN $user_id)
  AND ($team IS NULL AND $cost_center IS NULL OR (user_id, day) IN (SELECT user_id, day FROM placed_user))
