-- One row is one day and the build whose rows the running build reads: its own for a due day, else the one that counts.
-- Grain: (org_id, day).
CREATE TABLE IF NOT EXISTS building (
  org_id  VARCHAR NOT NULL,
  day     DATE NOT NULL,
  build   BIGINT NOT NULL
)
ENGINE = MergeTree ORDER BY (org_id, day)
