-- The 90th percentile.
CREATE OR REPLACE FUNCTION p90(x) AS percentile(0.9, x);
