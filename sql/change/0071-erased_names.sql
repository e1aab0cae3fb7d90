-- One row is one name of a person who was erased: nothing is taken under it any more.
-- Grain: (org_id, name_hash).
CREATE TABLE erased_names (
  org_id     VARCHAR NOT NULL,
  name_hash  VARCHAR NOT NULL  -- HMAC-SHA-256 of the name with the organization's secret, hexadecimal
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, name_hash)
