-- One row is one event that doesn't count, because a better channel reports the same: docs/quality.md says which.
-- Grain: (org_id, day, event_id).
CREATE TABLE shadowed_events (
  org_id    VARCHAR NOT NULL,
  day       DATE NOT NULL,
  event_id  VARCHAR NOT NULL,
  reason    VARCHAR NOT NULL  -- what it gives way to: channel, request, session (docs/quality.md)
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, event_id)
