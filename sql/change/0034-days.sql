-- One row is one built day of one organization.
-- Grain: (org_id, day).
CREATE TABLE days (
  org_id          VARCHAR NOT NULL,
  day             DATE NOT NULL,
  batch           BIGINT NOT NULL,        -- the newest batch that the build saw; -1 when the definitions have changed since
  built_at        TIMESTAMP(3) NOT NULL,
  first_built_at  TIMESTAMP(3) NOT NULL
--clickhouse , build BIGINT NOT NULL    -- where the rows of the day are
--clickhouse , version BIGINT NOT NULL  -- of several rows of a day the one with the highest counts
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day, version)
