-- One row is one run of the build: the nightly one, another try of it, or a command's.
-- Grain: (run_id).
CREATE TABLE runs (
  run_id       VARCHAR NOT NULL,       -- run_ + ULID
  cause        VARCHAR NOT NULL,       -- start, nightly, retry, command
  started_at   TIMESTAMP(3) NOT NULL,
  ended_at     TIMESTAMP(3) NOT NULL,
  days_built   BIGINT NOT NULL,
  days_failed  BIGINT NOT NULL,        -- days that stay as they were
  error        VARCHAR                 -- one sentence; null when all went well
)
--clickhouse ENGINE = MergeTree ORDER BY (started_at, run_id)
