-- One row is one built day on which events count for other users since a change of an organization's people.
-- Grain: (org_id, day, revision).
CREATE TABLE renamed_days (
  org_id    VARCHAR NOT NULL,
  day       DATE NOT NULL,
  revision  BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, day, revision)
