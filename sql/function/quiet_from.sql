-- The first of the three days from Monday to Friday that end with a day, or before it at a weekend: whoever reported last before it is silent.
CREATE OR REPLACE FUNCTION quiet_from(day) AS
  -- 2001-01-01 was a Monday.
  day - CAST(CASE date_diff('day', DATE '2001-01-01', day) % 7 WHEN 0 THEN 4 WHEN 1 THEN 4 WHEN 5 THEN 3 WHEN 6 THEN 4 ELSE 2 END AS INTEGER);
