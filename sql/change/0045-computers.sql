-- One row is one computer of an organization, with the steps of its provisioning.
-- Grain: (computer_id).
CREATE TABLE computers (
  computer_id        VARCHAR NOT NULL,       -- cmp_ + ULID
  org_id             VARCHAR NOT NULL,
  name               VARCHAR NOT NULL,       -- unique in the organization
  provider_type      VARCHAR NOT NULL,       -- byom, e2b
  status             VARCHAR NOT NULL,       -- provisioning, active, error
  owner_kind         VARCHAR NOT NULL,       -- human, service
  owner_id           VARCHAR NOT NULL,       -- the user, service account or key that it is of
  host_id            VARCHAR,                -- unique in the organization
  hostname           VARCHAR,                -- as the machine said when its agent last connected
  remote_user        VARCHAR,
  repos              VARCHAR NOT NULL,       -- a JSON list of addresses
  auto_install_deps  BOOLEAN NOT NULL,
  source             VARCHAR,                -- what it was made from, as JSON
  steps              VARCHAR NOT NULL,       -- a JSON list, in order: written at once with the status that follows from them
  token_hash         VARCHAR NOT NULL,       -- SHA-256 of the agent token, hexadecimal: the token is shown once and not stored
  provider_ref       VARCHAR,                -- what the provider calls it
  created_at         TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY computer_id SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
