-- One row is one agent in one session of one user on one day.
-- Grain: (org_id, day, user_id, session_id, agent).
CREATE TABLE user_sessions (
  org_id              VARCHAR NOT NULL,
  day                 DATE NOT NULL,
  user_id             VARCHAR NOT NULL,
  session_id          VARCHAR NOT NULL,
  agent               VARCHAR NOT NULL,  -- '' if the events name none
  events              BIGINT NOT NULL,  -- of any type
  tool_calls          BIGINT NOT NULL,
  user_turns          BIGINT NOT NULL,
  assistant_messages  BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, session_id, agent)
