-- The store that was moved into these databases, if one was. One row is one move.
-- Grain: (source).
CREATE TABLE moves (
  source       TEXT COLLATE "C" PRIMARY KEY,  -- a checksum of the store: another one when something was written to it
  begun_at     TIMESTAMP(3) NOT NULL,
  finished_at  TIMESTAMP(3)                   -- null until all of it counts: no node starts before that
);

-- What a move that isn't finished has copied. One row is one piece of a table.
-- Grain: (piece).
CREATE TABLE moved_pieces (
  piece  TEXT COLLATE "C" PRIMARY KEY
);
