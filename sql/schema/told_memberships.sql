-- One row is one team or cost centre that the events of one user on one day tell. It counts only if an owner lets it.
-- Grain: (org_id, day, user_id, kind).
CREATE TABLE told_memberships (
  org_id   VARCHAR NOT NULL,
  day      DATE NOT NULL,
  user_id  VARCHAR NOT NULL,
  kind     VARCHAR NOT NULL,  -- team or cost_center
  name     VARCHAR NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, kind)
