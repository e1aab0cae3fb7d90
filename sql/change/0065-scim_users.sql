-- One row is one user that an identity provider keeps here over SCIM.
-- Grain: (org_id, scim_id).
CREATE TABLE scim_users (
  org_id       VARCHAR NOT NULL,
  scim_id      VARCHAR NOT NULL,       -- the id of the resource: a UUID
  user_id      VARCHAR NOT NULL,       -- the person
  user_name    VARCHAR NOT NULL,       -- of which there are never two that only case tells apart
  external_id  VARCHAR NOT NULL,       -- the provider's id of the user; '' if unknown
  is_active    BOOLEAN NOT NULL,       -- whether the person may sign in and use keys
  profile      VARCHAR NOT NULL,       -- name, displayName and emails as the provider wrote them: JSON
  created_at   TIMESTAMP(3) NOT NULL,
  modified_at  TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, scim_id) SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
