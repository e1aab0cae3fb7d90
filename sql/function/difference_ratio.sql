-- How far two counts of the same differ: their difference as a share of the greater one, and null if one of them is unknown.
CREATE OR REPLACE FUNCTION difference_ratio(one, other) AS
  CASE WHEN one IS NULL OR other IS NULL THEN NULL ELSE ratio(abs(one - other), greatest(one, other)) END;
