-- One row is one day on which the running build looks for events that don't count: a due day, or a built one on which that can
-- depend on the events of a due day.
-- Grain: (org_id, day).
CREATE TABLE shadow_days (
  org_id  VARCHAR NOT NULL,
  day     DATE NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day)
