-- One row says that a request asked about one person, about everyone, or for totals. A request that names several people has a row for each.
-- Grain: (entry_no).
CREATE TABLE access_log (
  org_id        VARCHAR NOT NULL,
  entry_no      BIGINT NOT NULL,        -- grows from row to row
  asked_at      TIMESTAMP(3) NOT NULL,
  fingerprint   VARCHAR NOT NULL,       -- of the key or other credential that asked; local for a tool on the service's machine
  user_id       VARCHAR,                -- whose credential it is; null if it belongs to no user
  address       VARCHAR NOT NULL,       -- from which the request came
  path          VARCHAR NOT NULL,       -- of the answer, as /api/v1/analytics/users
  scope         VARCHAR NOT NULL,       -- user, everyone, totals
  about         VARCHAR,                -- the user who was asked about; null unless scope is user
  sql_digest    VARCHAR,                -- the first 12 hexadecimal digits of the SHA-256 of the SQL; null for other answers
  sql_tables    VARCHAR,                -- the tables that the SQL names, with spaces between; null for other answers
  status        BIGINT NOT NULL         -- of the answer: 403 if it was refused
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, entry_no)
