-- One row is one model of a session on one day with usage that its transcript states beyond its answers: the part of it that no other
-- event that counts has told, which is that of auxiliary calls such as a compaction. docs/quality.md has the rule in words.
-- Grain: (org_id, day, event_id).
CREATE TABLE auxiliary_usage (
  org_id                 VARCHAR NOT NULL,
  day                    DATE NOT NULL,
  event_id               VARCHAR NOT NULL,  -- of the last event of the session, day and model that states such usage
  first_day              DATE NOT NULL,     -- when the first of its runs on this day began
  input_tokens           BIGINT NOT NULL,
  output_tokens          BIGINT NOT NULL,
  cache_read_tokens      BIGINT NOT NULL,
  cache_write_tokens     BIGINT NOT NULL,
  cache_write_1h_tokens  BIGINT NOT NULL,
  web_searches           BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, event_id)
