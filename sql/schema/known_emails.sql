-- One row is one user with an e-mail: the first address of the person, or else the one that events tell.
-- Grain: (org_id, user_id).
CREATE OR REPLACE VIEW known_emails AS
SELECT
  org_id,
  user_id,
  email AS user_email
FROM people
WHERE email <> ''
UNION ALL
SELECT
  org_id,
  user_id,
  user_email
FROM user_emails
WHERE (org_id, user_id) NOT IN (SELECT org_id, user_id FROM people WHERE email <> '')
