-- One row is one name of a user on one day that is an alias of a person, with the person for whom its events count.
-- Grain: (org_id, day, named_user_id).
CREATE TABLE user_aliases (
  org_id         VARCHAR NOT NULL,
  day            DATE NOT NULL,
  named_user_id  VARCHAR NOT NULL,
  user_id        VARCHAR NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, named_user_id)
