-- One row is one day that was ever built, and what it was last built from. It outlives the day's tables when those are made anew.
-- Grain: (org_id, day).
CREATE TABLE day_inputs (
  org_id          VARCHAR NOT NULL,
  day             DATE NOT NULL,
  batch           BIGINT NOT NULL,        -- the newest batch that the build saw
  rate_card       VARCHAR,                -- SHA-256 of the rate card; null for a day that was built before this was noted
  language_table  VARCHAR,                -- SHA-256 of the language table
  definitions     VARCHAR,                -- SHA-256 of the SQL that the day was built by
  built_at        TIMESTAMP(3) NOT NULL,
  first_built_at  TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day)
;
INSERT INTO day_inputs
SELECT
  org_id,
  day,
  batch,
  CAST(NULL AS VARCHAR) AS rate_card,
  CAST(NULL AS VARCHAR) AS language_table,
  CAST(NULL AS VARCHAR) AS definitions,
  built_at,
  first_built_at
FROM days
