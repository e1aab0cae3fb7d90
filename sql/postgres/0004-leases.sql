-- Who does what only one node may do at a time. One row is one lease, which is free once it has expired by the clock of the database.
-- Grain: (name).
CREATE TABLE leases (
  name        TEXT COLLATE "C" PRIMARY KEY,
  holder      TEXT COLLATE "C",       -- the node; null if nobody has it
  epoch       BIGINT NOT NULL,        -- rises with each new holder
  expires_at  TIMESTAMPTZ NOT NULL,
  wanted_by   TEXT COLLATE "C",       -- the node that waits for it, and comes before its last holder
  wanted_at   TIMESTAMPTZ,
  taken       BIGINT NOT NULL,        -- the newest number that was given to an attempt
  number      BIGINT NOT NULL         -- the newest number that counts
);

-- Numbers of attempts that never came to count. One row is a range of them.
-- Grain: (name, first).
CREATE TABLE holes (
  name     TEXT COLLATE "C" NOT NULL,   -- of the lease
  first    BIGINT NOT NULL,
  last     BIGINT NOT NULL,
  made_at  TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (name, first)
);

-- How many rows a number wrote to a table in ClickHouse.
-- Grain: (number, kind, table_name).
CREATE TABLE written (
  number      BIGINT NOT NULL,
  kind        TEXT COLLATE "C" NOT NULL,         -- batch or build
  table_name  TEXT COLLATE "C" NOT NULL,
  rows        BIGINT NOT NULL,
  made_at     TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (number, kind, table_name)
);
CREATE INDEX written_at ON written (made_at);
