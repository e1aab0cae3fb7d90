-- One row is the digest of one table of one due day, as the running build has computed it.
-- Grain: (org_id, day, table_name).
CREATE TABLE fresh_digests (
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  table_name  VARCHAR NOT NULL,
  row_count   BIGINT NOT NULL,
  digest      VARCHAR NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, table_name)
