-- The agents of computers that are connected, and to which node. One row is one computer.
-- Grain: (computer_id).
CREATE TABLE connected_agents (
  computer_id      TEXT COLLATE "C" PRIMARY KEY,
  node_id          TEXT COLLATE "C" NOT NULL,
  connected_at_ms  BIGINT NOT NULL   -- Unix milliseconds by the clock of the node
);

CREATE OR REPLACE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON connected_agents FOR EACH STATEMENT EXECUTE FUNCTION count_change();
