-- One row is one table that the running build has written, with the number of rows that its query returned.
-- Grain: (table_name).
CREATE TABLE written_rows (
  table_name  VARCHAR NOT NULL,
  row_count   BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY table_name
