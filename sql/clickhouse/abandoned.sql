-- One row is one settle or build that was interrupted: what it wrote never counts.
CREATE TABLE IF NOT EXISTS abandoned (
  kind    VARCHAR NOT NULL,  -- batch, build
  number  BIGINT NOT NULL
)
ENGINE = MergeTree ORDER BY (kind, number)
