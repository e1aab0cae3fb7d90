-- One row is one name of a person whom the identity provider has deleted: nobody signs in under it until the provider creates the person again.
-- Grain: (org_id, name).
CREATE TABLE deleted_scim_users (
  org_id      VARCHAR NOT NULL,
  name        VARCHAR NOT NULL,      -- user id, alias or address
  deleted_at  TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, name)
