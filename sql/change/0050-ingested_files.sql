-- One row is one file as it was when it was last read. As long as it stays so, it isn't read again.
-- Grain: (org_id, source, user_id, path).
-- In ClickHouse the newest row takes the place of older ones, even one that never counts: then the file is read again.
CREATE TABLE ingested_files (
  org_id   VARCHAR NOT NULL,
  source   VARCHAR NOT NULL,  -- canonical, claude-code, ...
  user_id  VARCHAR NOT NULL,  -- whose file it was said to be; empty where its lines name their user
  path     VARCHAR NOT NULL,
  state    VARCHAR NOT NULL,  -- a hash of its size, times and last bytes, and of what its source's SQL computes; the second alone if lines were rejected
  batch    BIGINT NOT NULL    -- the batch that read it
)
--clickhouse ENGINE = ReplacingMergeTree(batch) ORDER BY (org_id, source, user_id, path)
