-- The share of a part in a whole, null if the whole is empty.
CREATE OR REPLACE FUNCTION share_of(part, whole) AS
  CASE WHEN whole > 0 THEN ratio(part, whole) END;
