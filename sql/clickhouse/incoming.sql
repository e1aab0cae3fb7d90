-- One row is one event of a batch that is being settled, to look up its stored copies.
DROP TABLE IF EXISTS incoming SYNC;
CREATE TABLE IF NOT EXISTS incoming (
  org_id       VARCHAR NOT NULL,
  day          DATE NOT NULL,
  event_id     VARCHAR NOT NULL,
  user_id      VARCHAR NOT NULL,
  message_key  VARCHAR,  -- of usage in a transcript: see sql/function
  batch        BIGINT NOT NULL
)
ENGINE = MergeTree PARTITION BY batch ORDER BY (org_id, day, event_id)
