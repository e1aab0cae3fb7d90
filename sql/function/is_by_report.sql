-- Whether calls cost what is reported of them: something is, and the list has no price at all for their model. 1 or 0.
CREATE OR REPLACE FUNCTION is_by_report(is_reported, input_price, output_price, cache_read_price, cache_write_price, cache_write_1h_price) AS
  CASE
    WHEN is_reported = 1
      AND input_price IS NULL
      AND output_price IS NULL
      AND cache_read_price IS NULL
      AND cache_write_price IS NULL
      AND cache_write_1h_price IS NULL
      THEN 1
    ELSE 0
  END;
