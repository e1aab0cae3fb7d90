-- One row is one slash command that one user used with one agent on one day.
-- Grain: (org_id, day, user_id, command_name, agent).
CREATE TABLE user_slash_commands (
  org_id        VARCHAR NOT NULL,
  day           DATE NOT NULL,
  user_id       VARCHAR NOT NULL,
  command_name  VARCHAR NOT NULL,
  agent         VARCHAR NOT NULL,  -- '' if the events name none
  uses          BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, command_name, agent)
