-- One row is one digest: that of one table of one day, as the last build left it. Two stores with equal digests have equal rows.
-- Grain: (org_id, day, table_name).
CREATE TABLE digests (
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  table_name  VARCHAR NOT NULL,
  row_count   BIGINT NOT NULL,
  digest      VARCHAR NOT NULL   -- SHA-256 of the rows, hexadecimal: docs/quality.md says how to compute it
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day, table_name)
