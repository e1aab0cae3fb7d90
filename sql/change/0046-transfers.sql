-- One row is one file that somebody sends to a computer.
-- Grain: (transfer_id).
CREATE TABLE transfers (
  transfer_id   VARCHAR NOT NULL,       -- a UUID
  org_id        VARCHAR NOT NULL,
  computer_id   VARCHAR NOT NULL,
  file_name     VARCHAR NOT NULL,
  size_bytes    BIGINT NOT NULL,
  content_type  VARCHAR,                -- as the sender said
  created_at    TIMESTAMP(3) NOT NULL,
  expires_at    TIMESTAMP(3) NOT NULL,
  dest_path     VARCHAR,                -- folder of the workspace that it was written to, '' for the workspace; null until then
  session_id    VARCHAR,                -- the session that it was completed for
  completed_at  TIMESTAMP(3)
)
--clickhouse ENGINE = MergeTree ORDER BY transfer_id SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
