-- One row is one person of an organization.
-- Grain: (org_id, user_id).
CREATE TABLE people (
  org_id   VARCHAR NOT NULL,
  user_id  VARCHAR NOT NULL,
  name     VARCHAR NOT NULL,  -- '' if unknown
  email    VARCHAR NOT NULL   -- the first of the person's addresses; '' if there is none
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, user_id)
