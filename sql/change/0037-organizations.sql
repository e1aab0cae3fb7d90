-- One row is one organization.
-- Grain: (org_id).
CREATE TABLE organizations (
  org_id      VARCHAR NOT NULL,
  created_at  TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY org_id
