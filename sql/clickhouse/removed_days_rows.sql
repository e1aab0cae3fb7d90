-- One row is one row of removed_days, where several nodes write: it counts by the number of a build. One process has removed_days alone.
CREATE TABLE IF NOT EXISTS removed_days_rows (
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  removed_at  TIMESTAMP(3) NOT NULL,
  build       BIGINT NOT NULL
)
ENGINE = MergeTree ORDER BY (org_id, day)
