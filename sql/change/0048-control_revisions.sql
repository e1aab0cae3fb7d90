-- One row is the settings of one organization's enterprise controls after one change of them.
-- Grain: (org_id, revision).
CREATE TABLE control_revisions (
  org_id      VARCHAR NOT NULL,
  revision    BIGINT NOT NULL,       -- from 1, without gaps
  settings    VARCHAR NOT NULL,      -- JSON; secrets in it are encrypted
  user_id     VARCHAR NOT NULL,      -- who made the change
  user_email  VARCHAR NOT NULL,      -- '' where none is known
  user_name   VARCHAR NOT NULL,
  updated_at  TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, revision)
