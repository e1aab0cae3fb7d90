-- Quotient of two counts; 0 if there is nothing to divide by.
CREATE OR REPLACE FUNCTION ratio(n, d) AS CASE WHEN d = 0 THEN 0.0 ELSE CAST(n AS DOUBLE) / CAST(d AS DOUBLE) END;
