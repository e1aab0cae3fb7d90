-- One row is one settle or build that was begun: its number is taken, whatever became of it.
CREATE TABLE IF NOT EXISTS attempts (
  kind    VARCHAR NOT NULL,  -- batch, build
  number  BIGINT NOT NULL
)
ENGINE = MergeTree ORDER BY (kind, number)
