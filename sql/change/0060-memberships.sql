-- One row is one team or cost centre that a person belongs to, from one day to another.
-- Grain: (org_id, user_id, kind, first_day).
CREATE TABLE memberships (
  org_id     VARCHAR NOT NULL,
  user_id    VARCHAR NOT NULL,
  kind       VARCHAR NOT NULL,  -- team or cost_center; nobody belongs to two of a kind on a day
  name       VARCHAR NOT NULL,
  first_day  DATE NOT NULL,     -- 1970-01-01 if it always was so
  last_day   DATE NOT NULL,     -- 2100-01-01 if no end is known
  is_lead    BOOLEAN NOT NULL   -- of the team: gets its digest
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, user_id, kind, first_day)
