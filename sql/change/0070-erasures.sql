-- One row is one person who was erased, or is being erased.
-- Grain: (org_id, pseudonym).
CREATE TABLE erasures (
  org_id       VARCHAR NOT NULL,
  pseudonym    VARCHAR NOT NULL,       -- the user id that takes the person's place
  begun_at     TIMESTAMP(3) NOT NULL,
  work         VARCHAR,                -- the person's names and what takes their place, as JSON, while they are being erased; null afterwards
  finished_at  TIMESTAMP(3)            -- when the last copy of the rows of before was gone from the data folder; null until then
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, pseudonym)
