-- One row is one source of lines that the batch that is being settled has rejected: what is asked for among the stored rejects.
CREATE TABLE IF NOT EXISTS incoming_rejects (
  org_id  VARCHAR NOT NULL,
  source  VARCHAR NOT NULL
)
ENGINE = MergeTree ORDER BY (org_id, source)
