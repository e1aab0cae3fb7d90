-- One row is one fact about the database itself.
-- Grain: (name).
CREATE TABLE facts (
  name   VARCHAR NOT NULL,  -- definitions, tables, rate_card, language_table: SHA-256 of what the days were built by
  value  VARCHAR NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY name
