-- One row is one change of an organization's people.
-- Grain: (org_id, revision).
CREATE TABLE people_revisions (
  org_id      VARCHAR NOT NULL,
  revision    BIGINT NOT NULL,       -- from 1, without gaps
  author      VARCHAR NOT NULL,      -- who made the change
  changed_at  TIMESTAMP(3) NOT NULL,
  people      BIGINT NOT NULL        -- how many were added, changed or removed
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, revision)
