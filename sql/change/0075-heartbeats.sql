-- One row is one sign of life of a collector, or with an agent what it says of that agent. Of a collector only the newest ones count: nightly
-- work removes the others.
-- Grain: (org_id, user_id, collector_id, agent, seen_at).
CREATE TABLE heartbeats (
  org_id        VARCHAR NOT NULL,
  user_id       VARCHAR NOT NULL,        -- whose sessions the collector sends
  collector_id  VARCHAR NOT NULL,        -- chosen at random by the collector, and kept on its machine
  agent         VARCHAR NOT NULL,        -- an agent with files on the machine; '' for the collector itself
  seen_at       TIMESTAMP(3) NOT NULL,
  changed_at    TIMESTAMP(3),            -- when one of the agent's files last changed; null for the collector itself, or if it isn't known
  host          VARCHAR,                 -- the machine's name; null if it tells none
  version       VARCHAR NOT NULL,        -- of the collector
  fingerprint   VARCHAR NOT NULL         -- of the key or other credential that it sends with
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, user_id, collector_id, agent, seen_at)
