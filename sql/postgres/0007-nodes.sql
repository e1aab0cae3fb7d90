-- The nodes that share the database. Instants are Unix milliseconds by its clock. One row is one process.
-- Grain: (node_id).
CREATE TABLE nodes (
  node_id        TEXT COLLATE "C" PRIMARY KEY,
  host           TEXT COLLATE "C" NOT NULL,
  role           TEXT COLLATE "C" NOT NULL,   -- all, api, ingest, build
  version        TEXT COLLATE "C" NOT NULL,
  started_at_ms  BIGINT NOT NULL,
  seen_at_ms     BIGINT NOT NULL              -- a node that is dead doesn't say so any more
);
