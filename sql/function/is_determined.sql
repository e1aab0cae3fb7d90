-- Whether the prices of the list determine what a call cost: not if it doesn't say how long its cache writes live, and they cost more for an hour.
-- 1 or 0.
CREATE OR REPLACE FUNCTION is_determined(is_unsplit, cache_write_price, cache_write_1h_price) AS
  CASE WHEN is_unsplit = 0 OR cache_write_price = cache_write_1h_price THEN 1 ELSE 0 END;
