-- One row is the e-mail of one user: the one with the latest timestamp of all stored events.
-- Grain: (org_id, user_id).
CREATE TABLE user_emails (
  org_id      VARCHAR NOT NULL,
  user_id     VARCHAR NOT NULL,
  user_email  VARCHAR NOT NULL,
  seen_at     TIMESTAMP(3) NOT NULL   -- of the event that gave it
--clickhouse , batch BIGINT NOT NULL  -- the batch that gave it; an empty e-mail says that there is none any more
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, user_id, batch)
