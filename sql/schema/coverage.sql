-- One row is one channel that reported one agent of one user on one day. All events that are stored are in it, also those that don't
-- count.
-- Grain: (org_id, day, user_id, agent, channel).
CREATE TABLE coverage (
  org_id               VARCHAR NOT NULL,
  day                  DATE NOT NULL,
  user_id              VARCHAR NOT NULL,  -- unknown if the events don't say whose they are
  agent                VARCHAR NOT NULL,  -- '' if the events name none
  channel              VARCHAR NOT NULL,  -- event, log, hook, otlp_log, otlp_span, otlp_metric, vendor_api
  events               BIGINT NOT NULL,   -- that are stored
  shadowed             BIGINT NOT NULL,   -- of them, those that don't count because a better channel reports the same
  tokens               BIGINT NOT NULL,   -- of all four kinds
  user_turns           BIGINT NOT NULL,
  costed_calls         BIGINT NOT NULL,   -- calls of models of which it says what they cost
  reported_cost_usd    DECIMAL(18, 9) NOT NULL,  -- what it says; 0 if it says it of none
  transcripts_deleted  BIGINT NOT NULL    -- by the agent, because they were old
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, agent, channel)
