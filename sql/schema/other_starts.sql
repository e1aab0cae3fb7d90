-- One row is one session of the due days, as they were or as they are now, that has other days as well: the first of those.
-- Grain: (org_id, user_id, session_id).
CREATE TABLE other_starts (
  org_id      VARCHAR NOT NULL,
  user_id     VARCHAR NOT NULL,
  session_id  VARCHAR NOT NULL,
  day         DATE NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, user_id, session_id)
