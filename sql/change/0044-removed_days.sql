-- One row is one built day whose raw events are gone, as they were older than they may be kept. Its tables stay as they are.
-- Grain: (org_id, day).
CREATE TABLE removed_days (
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  removed_at  TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day)
