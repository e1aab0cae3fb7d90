-- One row is one day that the running build makes stale, or would make stale if it weren't due itself: see touches.
-- Grain: (org_id, day).
CREATE TABLE fresh_touches (
  org_id  VARCHAR NOT NULL,
  day     DATE NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day)
