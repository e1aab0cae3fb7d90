-- The median.
CREATE OR REPLACE FUNCTION p50(x) AS percentile(0.5, x);
