-- One row is one file name or extension, with the language of such files.
-- Grain: (kind, pattern).
CREATE TABLE languages (
  kind      VARCHAR NOT NULL,  -- name, extension
  pattern   VARCHAR NOT NULL,  -- Makefile, .ts
  language  VARCHAR NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (kind, pattern)
