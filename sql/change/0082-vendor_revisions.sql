-- One row is what an organization has said of the vendors' APIs that are pulled, after one change of it; the newest revision counts.
-- Grain: (org_id, revision).
CREATE TABLE vendor_revisions (
  org_id      VARCHAR NOT NULL,
  revision    BIGINT NOT NULL,       -- from 1, without gaps
  settings    VARCHAR NOT NULL,      -- JSON, with encrypted keys
  author      VARCHAR NOT NULL,      -- who made the change
  changed_at  TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, revision)
