-- One row is one event of the batch that is being settled: what is asked for among the stored ones.
CREATE TABLE IF NOT EXISTS incoming (
  day          DATE NOT NULL,
  event_id     VARCHAR NOT NULL,
  user_id      VARCHAR NOT NULL,
  message_key  VARCHAR  -- of a usage in a transcript: its event_id without the request
)
ENGINE = MergeTree ORDER BY (day, event_id)
