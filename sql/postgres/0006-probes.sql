-- What nodes write to see whether they can. One row is one probe.
-- Grain: (probed_at).
CREATE TABLE probes (
  probed_at  TIMESTAMP(3) NOT NULL
);
