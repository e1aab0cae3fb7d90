-- One row is one copy of an event that another copy replaced. Its row in events_rows is removed later.
CREATE TABLE IF NOT EXISTS removals (
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  event_id    VARCHAR NOT NULL,
  batch       BIGINT NOT NULL,  -- the copy's own batch
  removed_by  BIGINT NOT NULL   -- the batch that brought the other copy
)
ENGINE = MergeTree ORDER BY (org_id, day, event_id)
