-- One row has the random secret of an organization with which names are hashed, so that a hash can't be made without it.
-- Grain: (org_id).
CREATE TABLE organization_secrets (
  org_id        VARCHAR NOT NULL,
  secret        VARCHAR NOT NULL,       -- 64 hexadecimal digits
  added_at      TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY org_id
