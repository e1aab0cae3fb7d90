-- One row is one of the 30 days of a trailing window: 0 is the day itself.
-- Grain: (days_back).
CREATE TABLE trailing_days (
  days_back  BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY days_back
