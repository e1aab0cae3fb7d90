-- One row is one source of lines that a batch that is being settled has rejected or mended, to look up its stored ones.
DROP TABLE IF EXISTS incoming_rejects SYNC;
CREATE TABLE IF NOT EXISTS incoming_rejects (
  org_id  VARCHAR NOT NULL,
  source  VARCHAR NOT NULL,
  batch   BIGINT NOT NULL
)
ENGINE = MergeTree PARTITION BY batch ORDER BY (org_id, source)
