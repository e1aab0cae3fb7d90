-- One row is one number of lines that vendors report of one agent of one user on one day. It is theirs, whatever other channels say.
-- Grain: (org_id, day, user_id, agent, kind).
CREATE TABLE vendor_lines (
  org_id   VARCHAR NOT NULL,
  day      DATE NOT NULL,
  user_id  VARCHAR NOT NULL,
  agent    VARCHAR NOT NULL,
  kind     VARCHAR NOT NULL,  -- suggested, accepted or deleted; without a row the vendor doesn't tell
  lines    BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, agent, kind)
