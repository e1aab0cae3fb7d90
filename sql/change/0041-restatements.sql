-- One row is one change that a build made to the rows that a built day had in one table.
-- Grain: (org_id, day, table_name, built_at).
CREATE TABLE restatements (
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  table_name  VARCHAR NOT NULL,
  old_digest  VARCHAR NOT NULL,
  new_digest  VARCHAR NOT NULL,
  built_at    TIMESTAMP(3) NOT NULL,  -- of the build that changed it
  reason      VARCHAR NOT NULL        -- late events, identity (events count for other users), rate card, language table, definition, or several of these with commas between
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day, built_at, table_name)
