-- One row is one user of a page on a day on which the user was active.
-- Grain: (user_id, day).
SELECT
  users.*,
  known_emails.user_email AS user_email
FROM users
LEFT JOIN known_emails
  ON known_emails.org_id = $org_id
  AND known_emails.user_id BETWEEN $first_user_id AND $last_user_id
  AND known_emails.user_id = users.user_id
WHERE users.org_id = $org_id
  AND users.day BETWEEN $from AND $to
  AND users.user_id BETWEEN $first_user_id AND $last_user_id
  AND ($user_id IS NULL OR users.user_id IN $user_id)
  AND ($team IS NULL AND $cost_center IS NULL OR (users.user_id, users.day) IN (SELECT user_id, day FROM placed_user))
