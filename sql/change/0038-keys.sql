-- One row is one API key. The key itself is shown once and not stored.
-- Grain: (key_id).
CREATE TABLE keys (
  key_id       VARCHAR NOT NULL,      -- key_ + ULID
  org_id       VARCHAR NOT NULL,
  role         VARCHAR NOT NULL,      -- owner, manager, member, guest, ingest
  user_id      VARCHAR,               -- the person or service that it stands for
  user_email   VARCHAR,
  key_hash     VARCHAR NOT NULL,      -- SHA-256 of the key, hexadecimal
  fingerprint  VARCHAR NOT NULL,      -- the first characters of key_hash, for lists and logs
  created_at   TIMESTAMP(3) NOT NULL,
  expires_at   TIMESTAMP(3),
  revoked_at   TIMESTAMP(3),
  name         VARCHAR,               -- what the key is for, as whoever made it said
  created_by   VARCHAR                -- who created it over HTTP: the user, or what names the credential of no user; null for a key that the service's machine made
)
--clickhouse ENGINE = MergeTree ORDER BY key_id SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
