-- One row is one other name of a person: the id of a collector, of telemetry or of an identity provider, the login at a vendor, or an address.
-- No alias is the user id of a person.
-- Grain: (org_id, alias).
CREATE TABLE aliases (
  org_id    VARCHAR NOT NULL,
  alias     VARCHAR NOT NULL,
  user_id   VARCHAR NOT NULL,  -- of the person
  is_email  BOOLEAN NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, alias)
