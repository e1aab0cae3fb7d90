-- One row is one client on which one user was active on one day.
-- Grain: (org_id, day, user_id, client).
CREATE TABLE user_clients (
  org_id   VARCHAR NOT NULL,
  day      DATE NOT NULL,
  user_id  VARCHAR NOT NULL,
  client   VARCHAR NOT NULL,
  events   BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, client)
