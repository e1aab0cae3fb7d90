-- One row is one event that doesn't count by what the running build finds, on the days that it looks at: see shadowed_events.
-- Grain: (org_id, day, event_id).
CREATE TABLE fresh_shadows (
  org_id    VARCHAR NOT NULL,
  day       DATE NOT NULL,
  event_id  VARCHAR NOT NULL,
  reason    VARCHAR NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, event_id)
