-- One row is one model of a session on one day with auxiliary usage by what the running build finds, on the due days and on those that
-- can depend on events of a due day: see auxiliary_usage.
-- Grain: (org_id, day, event_id).
CREATE TABLE fresh_auxiliary (
  org_id                 VARCHAR NOT NULL,
  day                    DATE NOT NULL,
  event_id               VARCHAR NOT NULL,
  first_day              DATE NOT NULL,
  input_tokens           BIGINT NOT NULL,
  output_tokens          BIGINT NOT NULL,
  cache_read_tokens      BIGINT NOT NULL,
  cache_write_tokens     BIGINT NOT NULL,
  cache_write_1h_tokens  BIGINT NOT NULL,
  web_searches           BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, event_id)
