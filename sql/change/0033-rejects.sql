-- One row is one line that broke a rule.
-- Grain: (batch, source, line_no).
CREATE TABLE rejects (
  batch        BIGINT NOT NULL,
  org_id       VARCHAR NOT NULL,
  day          DATE NOT NULL,     -- UTC day of the line's timestamp where it has a valid one, else of its arrival
  source       VARCHAR NOT NULL,  -- file name or request id
  line_no      BIGINT NOT NULL,   -- from 1
  reason       VARCHAR NOT NULL,  -- not_json, missing_member, ...
  detail       VARCHAR NOT NULL,  -- one sentence that names the member
  line         VARCHAR            -- its first 2,000 characters; null for transcripts, of which no text is kept
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, batch, source, line_no)
