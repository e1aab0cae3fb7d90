-- One row is an instant at which the service wrote to test whether it can. Older rows disappear when parts are merged.
-- Grain: ().
CREATE TABLE IF NOT EXISTS probes (
  probed_at  TIMESTAMP(3) NOT NULL
)
ENGINE = ReplacingMergeTree ORDER BY tuple()
