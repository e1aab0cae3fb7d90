-- One row is one hook command that ran for one agent of one user on one day.
-- Grain: (org_id, day, user_id, hook_event, matcher, command, agent).
CREATE TABLE user_hooks (
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  user_id     VARCHAR NOT NULL,
  hook_event  VARCHAR NOT NULL,
  matcher     VARCHAR NOT NULL,  -- '' if there is none
  command     VARCHAR NOT NULL,
  agent       VARCHAR NOT NULL,  -- '' if the events name none
  runs        BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, hook_event, matcher, command, agent)
