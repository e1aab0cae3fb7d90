-- One row is one line of an agent's file that was no JSON, and of which was taken what could be read.
-- Grain: (batch, source, line_no).
CREATE TABLE mended_lines (
  batch        BIGINT NOT NULL,
  org_id       VARCHAR NOT NULL,
  day          DATE NOT NULL,     -- UTC day of its events where it has some, else of its arrival
  source       VARCHAR NOT NULL,  -- file name
  line_no      BIGINT NOT NULL    -- from 1
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, batch, source, line_no)
