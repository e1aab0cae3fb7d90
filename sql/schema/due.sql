-- One row is one day that the running build computes. Every daily query returns the rows of these days.
-- Grain: (org_id, day).
CREATE TABLE due (
  org_id  VARCHAR NOT NULL,
  day     DATE NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day)
