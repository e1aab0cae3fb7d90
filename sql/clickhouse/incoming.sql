-- One row is one event of the batch that is being settled: what is asked for among the stored ones. It is made anew when this
-- text changes, and nothing is lost by that.
DROP TABLE IF EXISTS incoming SYNC;
CREATE TABLE IF NOT EXISTS incoming (
  org_id       VARCHAR NOT NULL,
  day          DATE NOT NULL,
  event_id     VARCHAR NOT NULL,
  user_id      VARCHAR NOT NULL,
  message_key  VARCHAR  -- of a usage in a transcript: its event_id without the request
)
ENGINE = MergeTree ORDER BY (org_id, day, event_id)
