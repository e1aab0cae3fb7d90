-- One row is one time that a report of a vendor was pulled.
-- Grain: (org_id, report, pulled_at).
CREATE TABLE vendor_pulls (
  org_id     VARCHAR NOT NULL,
  report     VARCHAR NOT NULL,       -- such as anthropic-claude-code
  pulled_at  TIMESTAMP(3) NOT NULL,
  days       BIGINT NOT NULL,        -- that were fetched whole
  changed    BIGINT NOT NULL,        -- of them, those that aren't as they were
  missed     VARCHAR NOT NULL,       -- JSON: the days that couldn't be fetched, which the next pull fetches
  fault      VARCHAR NOT NULL        -- the last fault; '' for none
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, report, pulled_at) SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
