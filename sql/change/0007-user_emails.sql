-- One row is the e-mail of one user: the one with the latest timestamp of all stored events.
-- Grain: (org_id, user_id).
CREATE TABLE user_emails (
  org_id      VARCHAR NOT NULL,
  user_id     VARCHAR NOT NULL,
  user_email  VARCHAR NOT NULL,
  seen_at     TIMESTAMP(3) NOT NULL   -- of the event that gave it
)
