-- The e-mail of each user, from the newest batch that counts and has one.
CREATE OR REPLACE VIEW user_emails AS
SELECT
  org_id,
  user_id,
  user_email,
  seen_at
FROM (
  SELECT *
  FROM user_emails_rows
  WHERE batch_counts(batch)
  ORDER BY batch DESC
  LIMIT 1 BY
    org_id,
    user_id
)
WHERE user_email <> ''
