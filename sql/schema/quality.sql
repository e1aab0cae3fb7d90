-- One row is one day of one organization: how far its numbers can be trusted.
-- Grain: (org_id, day).
CREATE TABLE quality (
  org_id                         VARCHAR NOT NULL,
  day                            DATE NOT NULL,
  events                         BIGINT NOT NULL,  -- that count
  shadowed                       BIGINT NOT NULL,  -- events that don't, because a better channel reports the same
  parse_artifacts                BIGINT NOT NULL,
  events_without_client          BIGINT NOT NULL,
  events_without_autonomy_mode   BIGINT NOT NULL,
  events_without_user            BIGINT NOT NULL,  -- those of the user unknown
  models_not_on_rate_card        BIGINT NOT NULL,  -- distinct models
  incomplete_sessions            BIGINT NOT NULL   -- sessions with output tokens of models and no input tokens
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day)
