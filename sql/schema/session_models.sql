-- One row is one model that was used in one part of a session on one day.
-- Grain: (org_id, day, user_id, session_id, agent, client, repo, model_id).
CREATE TABLE session_models (
  org_id                 VARCHAR NOT NULL,
  day                    DATE NOT NULL,
  user_id                VARCHAR NOT NULL,
  session_id             VARCHAR NOT NULL,
  agent                  VARCHAR NOT NULL,  -- '' if the events name none
  client                 VARCHAR NOT NULL,  -- '' if the events name none
  repo                   VARCHAR NOT NULL,  -- '' if the events name none
  model_id               VARCHAR NOT NULL,
  model_tier             VARCHAR NOT NULL,  -- standard, thinking
  is_on_rate_card        BIGINT NOT NULL,   -- 1; 0 if the default rates applied
  calls                  BIGINT NOT NULL,   -- model_usage events
  input_tokens           BIGINT NOT NULL,   -- uncached input
  output_tokens          BIGINT NOT NULL,
  cache_read_tokens      BIGINT NOT NULL,
  cache_write_tokens     BIGINT NOT NULL,
  cache_write_1h_tokens  BIGINT NOT NULL,   -- the part of cache_write_tokens that lives an hour
  billable_tokens        BIGINT NOT NULL    -- standard credits
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, session_id, agent, client, repo, model_id)
