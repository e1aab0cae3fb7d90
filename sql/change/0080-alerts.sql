-- One row is one time that a condition held for a subject, from the check that first saw it to the one that didn't any more.
-- Grain: (org_id, condition, subject, began_at).
CREATE TABLE alerts (
  org_id     VARCHAR NOT NULL,
  condition  VARCHAR NOT NULL,
  subject    VARCHAR NOT NULL,       -- which of those that the condition can hold for; '' for the organization
  user_id    VARCHAR NOT NULL,       -- the person whom it names; '' for none
  facts      VARCHAR NOT NULL,       -- JSON: what its sentence is made of
  began_at   TIMESTAMP(3) NOT NULL,
  ended_at   TIMESTAMP(3)            -- null as long as it holds
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, condition, subject, began_at) SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
