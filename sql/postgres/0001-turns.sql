-- The work that takes turns on all nodes: whoever does it locks its row. One row is one name.
-- Grain: (name).
CREATE TABLE turns (
  name  TEXT COLLATE "C" PRIMARY KEY
);
