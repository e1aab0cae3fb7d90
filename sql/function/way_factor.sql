-- What the speed, the service tier and the region of a call cost more, together: each has at most two decimals. A way without a known factor
-- costs as the usual one.
CREATE OR REPLACE FUNCTION way_factor(speed, service_tier, region) AS
  CAST(
    CAST(coalesce(speed, 1) AS DECIMAL(12, 6)) * CAST(coalesce(service_tier, 1) AS DECIMAL(12, 6)) * CAST(coalesce(region, 1) AS DECIMAL(12, 6)) AS DECIMAL(38, 6)
  );
