-- One row is all budgets of an organization after one change of them; the newest revision counts.
-- Grain: (org_id, revision).
CREATE TABLE budget_revisions (
  org_id      VARCHAR NOT NULL,
  revision    BIGINT NOT NULL,       -- from 1, without gaps
  budgets     VARCHAR NOT NULL,      -- JSON: a list of scope, name and usd
  author      VARCHAR NOT NULL,      -- who made the change
  changed_at  TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, revision)
