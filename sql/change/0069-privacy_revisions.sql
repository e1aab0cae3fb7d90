-- One row is one change of who may see people by name; the newest revision of an organization counts.
-- Grain: (org_id, revision).
CREATE TABLE privacy_revisions (
  org_id          VARCHAR NOT NULL,
  revision        BIGINT NOT NULL,
  mode            VARCHAR NOT NULL,       -- open, protected
  smallest_group  BIGINT NOT NULL,        -- how many people a group has at least that is shown in protected mode
  auditors        VARCHAR NOT NULL,       -- user ids of those who see names in protected mode: JSON
  author          VARCHAR NOT NULL,
  changed_at      TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, revision)
