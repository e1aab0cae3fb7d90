-- One row is one client on which one user was active with one agent on one day.
-- Grain: (org_id, day, user_id, client, agent).
CREATE TABLE user_clients (
  org_id   VARCHAR NOT NULL,
  day      DATE NOT NULL,
  user_id  VARCHAR NOT NULL,
  client   VARCHAR NOT NULL,
  agent    VARCHAR NOT NULL,  -- '' if the events name none
  events   BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, client, agent)
