-- One row is one message to one way out. Its text is made when it is sent, and isn't kept.
-- Grain: (org_id, delivery_id).
CREATE TABLE deliveries (
  org_id       VARCHAR NOT NULL,
  delivery_id  VARCHAR NOT NULL,
  kind         VARCHAR NOT NULL,       -- alerts or digest
  way          VARCHAR NOT NULL,       -- the name of the way; '' for e-mail to the leads of the team
  checked_at   TIMESTAMP(3),           -- of alerts: the check at which they began or ended; null for a digest
  week         DATE,                   -- of a digest: its Monday; null for alerts
  team         VARCHAR NOT NULL,       -- of a digest for leads; '' for all of the organization
  made_at      TIMESTAMP(3) NOT NULL,
  state        VARCHAR NOT NULL,       -- waiting, delivered or undelivered
  attempts     BIGINT NOT NULL,
  next_at      TIMESTAMP(3) NOT NULL,  -- when it is sent next, or when it was sent last
  answer       VARCHAR NOT NULL        -- why the last attempt failed; '' if it didn't
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, delivery_id) SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
