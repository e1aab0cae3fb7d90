-- One row is one skill that one user used with one agent on one day.
-- Grain: (org_id, day, user_id, skill_name, agent).
CREATE TABLE user_skills (
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  user_id     VARCHAR NOT NULL,
  skill_name  VARCHAR NOT NULL,
  agent       VARCHAR NOT NULL,  -- '' if the events name none
  uses        BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, skill_name, agent)
