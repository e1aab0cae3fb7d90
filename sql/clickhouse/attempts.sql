-- One row is one settle or build that was started: its number is taken, whether it finished or not.
CREATE TABLE IF NOT EXISTS attempts (
  kind    VARCHAR NOT NULL,  -- batch, build
  number  BIGINT NOT NULL
)
ENGINE = MergeTree ORDER BY (kind, number)
