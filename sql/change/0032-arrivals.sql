-- One row says what one batch brought for one day.
-- Grain: (batch, org_id, day).
CREATE TABLE arrivals (
  batch       BIGINT NOT NULL,
  org_id      VARCHAR NOT NULL,
  day         DATE NOT NULL,
  accepted    BIGINT NOT NULL,  -- events that were not there before
  duplicates  BIGINT NOT NULL,  -- copies of events that were there, or twice in the batch
  changed     BIGINT NOT NULL,  -- events of this batch that stand: new ones, and copies that replaced one; 0 leaves the day as it is
  late        BIGINT NOT NULL   -- the same, when the day had been built before
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day, batch)
