-- One row is one user who is decided by the running build, on the days that it looks at: see decided_users.
-- Grain: (org_id, day, session_id, agent, channel, named_user_id).
CREATE TABLE fresh_users (
  org_id         VARCHAR NOT NULL,
  day            DATE NOT NULL,
  session_id     VARCHAR NOT NULL,
  agent          VARCHAR NOT NULL,
  channel        VARCHAR NOT NULL,
  named_user_id  VARCHAR NOT NULL,
  user_id        VARCHAR NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, session_id, agent, channel, named_user_id)
