-- One row is one autonomy mode in which one agent of one user worked on one day.
-- Grain: (org_id, day, user_id, autonomy_mode, agent).
CREATE TABLE user_modes (
  org_id          VARCHAR NOT NULL,
  day             DATE NOT NULL,
  user_id         VARCHAR NOT NULL,
  autonomy_mode   VARCHAR NOT NULL,  -- auto-high, auto-medium, auto-low, spec, manual; '' if unknown
  agent           VARCHAR NOT NULL,  -- '' if the events name none
  autonomy_level  VARCHAR NOT NULL,  -- auto_high, auto_medium, auto_low, manual, unknown
  tool_calls      BIGINT NOT NULL,
  user_turns      BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, autonomy_mode, agent)
