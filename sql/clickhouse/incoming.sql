-- One row is one event of the batch that is being settled, to look up its stored copies. The table is recreated when this text
-- changes, which loses nothing.
DROP TABLE IF EXISTS incoming SYNC;
CREATE TABLE IF NOT EXISTS incoming (
  org_id       VARCHAR NOT NULL,
  day          DATE NOT NULL,
  event_id     VARCHAR NOT NULL,
  user_id      VARCHAR NOT NULL,
  message_key  VARCHAR  -- of usage in a transcript: see sql/function
)
ENGINE = MergeTree ORDER BY (org_id, day, event_id)
