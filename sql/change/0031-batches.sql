-- One row is one batch: what was settled together, in one transaction, from one source.
-- Grain: (batch).
CREATE TABLE batches (
  batch       BIGINT NOT NULL,        -- rises by one
  org_id      VARCHAR NOT NULL,
  source      VARCHAR NOT NULL,       -- what brought it: the format of the lines
  settled_at  TIMESTAMP(3) NOT NULL,
  accepted    BIGINT NOT NULL,        -- events that count from this batch on
  duplicates  BIGINT NOT NULL,        -- valid events that were there already
  rejected    BIGINT NOT NULL,        -- lines that broke a rule
  token       VARCHAR                 -- what names the batch to whoever brings it, who can find out after a crash whether it was settled
)
--clickhouse ENGINE = MergeTree ORDER BY batch
