-- One row is one agent of a user of a page on a day on which the user was active with it.
-- Grain: (user_id, day, agent).
SELECT
  user_agents.*,
  known_emails.user_email AS user_email
FROM user_agents
LEFT JOIN known_emails
  ON known_emails.org_id = $org_id
  AND known_emails.user_id BETWEEN $first_user_id AND $last_user_id
  AND known_emails.user_id = user_agents.user_id
WHERE user_agents.org_id = $org_id
  AND user_agents.day BETWEEN $from AND $to
  AND user_agents.user_id BETWEEN $first_user_id AND $last_user_id
  AND ($user_id IS NULL OR user_agents.user_id IN $user_id)
  AND ($team IS NULL AND $cost_center IS NULL OR (user_agents.user_id, user_agents.day) IN (SELECT user_id, day FROM placed_user))
