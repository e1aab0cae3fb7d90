-- One row is one ticket that was used up or signed out before its end. Rows are removed when tickets would have ended anyway.
-- Grain: (ticket_id).
CREATE TABLE ended_tickets (
  ticket_id  VARCHAR NOT NULL,
  ends_at    TIMESTAMP(3) NOT NULL  -- when it would have ended
)
--clickhouse ENGINE = MergeTree ORDER BY ticket_id SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
