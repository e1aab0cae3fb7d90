-- One row is one model that was used in one way in one part of a session on one day.
-- Grain: (org_id, day, user_id, session_id, agent, client, repo, model_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit).
CREATE TABLE session_models (
  org_id                 VARCHAR NOT NULL,
  day                    DATE NOT NULL,
  user_id                VARCHAR NOT NULL,
  session_id             VARCHAR NOT NULL,
  agent                  VARCHAR NOT NULL,  -- '' if the events name none
  client                 VARCHAR NOT NULL,  -- '' if the events name none
  repo                   VARCHAR NOT NULL,  -- its key, as github.com/acme/api; '' if the events name none
  model_id               VARCHAR NOT NULL,
  speed                  VARCHAR NOT NULL,  -- '' for the standard speed; likewise the next two
  service_tier           VARCHAR NOT NULL,  -- the provider's: priority, flex, batch, ...
  region                 VARCHAR NOT NULL,  -- where it had to be computed, if that costs more
  prompt_class           BIGINT NOT NULL,   -- the limit of prices that its prompts exceed, in tokens; 0 for none
  is_reported            BIGINT NOT NULL,   -- 1 if an agent or provider says what these calls cost; otherwise 0
  is_unsplit             BIGINT NOT NULL,   -- 1 if these say it, and not for how long they wrote to the cache; otherwise 0
  model_tier             VARCHAR NOT NULL,  -- standard, thinking
  is_on_rate_card        BIGINT NOT NULL,   -- 1; 0 if the default rates applied
  calls                  BIGINT NOT NULL,   -- model_usage events
  input_tokens           BIGINT NOT NULL,   -- uncached input
  output_tokens          BIGINT NOT NULL,
  cache_read_tokens      BIGINT NOT NULL,
  cache_write_tokens     BIGINT NOT NULL,
  cache_write_1h_tokens  BIGINT NOT NULL,   -- the part of cache_write_tokens that lives an hour
  web_searches           BIGINT NOT NULL,   -- those that the provider bills
  reported_cost_usd      DECIMAL(18, 9) NOT NULL,  -- what these calls are said to have cost; 0 if nobody says it
  billable_tokens        BIGINT NOT NULL    -- standard credits
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, session_id, agent, client, repo, model_id, speed, service_tier, region, prompt_class, is_reported, is_unsplit)
