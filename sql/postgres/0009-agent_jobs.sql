-- What one node asks of an agent that is connected to another one. One row is one job, until its answer is read.
-- Grain: (job_id).
CREATE TABLE agent_jobs (
  job_id       TEXT COLLATE "C" PRIMARY KEY,
  computer_id  TEXT COLLATE "C" NOT NULL,
  node_id      TEXT COLLATE "C" NOT NULL,   -- where the agent is connected
  asker_id     TEXT COLLATE "C" NOT NULL,   -- the node that asks
  job          TEXT NOT NULL,               -- JSON
  timeout_ms   BIGINT NOT NULL,
  is_done      BOOLEAN NOT NULL,
  reason       TEXT,                        -- why it failed; null if it didn't
  detail       TEXT
);

CREATE INDEX agent_jobs_of_node ON agent_jobs (node_id);
CREATE INDEX agent_jobs_of_asker ON agent_jobs (asker_id);
