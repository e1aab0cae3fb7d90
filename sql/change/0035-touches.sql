-- One row says that a build of one day moved a session's start to or from another day, which is stale until its own build.
-- Grain: (org_id, day).
CREATE TABLE touches (
  org_id  VARCHAR NOT NULL,
  day     DATE NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day)
