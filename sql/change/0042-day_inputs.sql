-- One row is one day that was ever built, and what it was last built from. It outlives the day's tables when those are made anew.
-- Grain: (org_id, day).
CREATE TABLE day_inputs (
  org_id          VARCHAR NOT NULL,
  day             DATE NOT NULL,
  batch           BIGINT NOT NULL,        -- the newest batch that the build saw
  rate_card       VARCHAR,                -- SHA-256 of the rate card
  language_table  VARCHAR,                -- SHA-256 of the language table
  definitions     VARCHAR,                -- SHA-256 of the SQL that the day was built by
  built_at        TIMESTAMP(3) NOT NULL,
  first_built_at  TIMESTAMP(3) NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day)
