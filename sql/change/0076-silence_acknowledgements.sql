-- One row says that somebody knows why a collector or an agent of a user is silent. It holds until that reports again, since then its last day
-- is another one. Of several the newest one counts.
-- Grain: (org_id, user_id, kind, name, last_day, acknowledged_at).
CREATE TABLE silence_acknowledgements (
  org_id           VARCHAR NOT NULL,
  user_id          VARCHAR NOT NULL,
  kind             VARCHAR NOT NULL,       -- collector or agent
  name             VARCHAR NOT NULL,       -- the collector_id, or the agent
  last_day         DATE NOT NULL,          -- on which it reported
  acknowledged_at  TIMESTAMP(3) NOT NULL,
  author           VARCHAR NOT NULL,       -- the user, or the credential if it has none
  reason           VARCHAR                 -- null if none was given
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, user_id, kind, name, last_day, acknowledged_at)
