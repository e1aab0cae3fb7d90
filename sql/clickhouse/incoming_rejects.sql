-- One row is one source of lines that the batch being settled has rejected, to look up its stored rejects.
CREATE TABLE IF NOT EXISTS incoming_rejects (
  org_id  VARCHAR NOT NULL,
  source  VARCHAR NOT NULL
)
ENGINE = MergeTree ORDER BY (org_id, source)
