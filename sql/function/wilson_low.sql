-- The lower end of Wilson's 95% interval of a share: the least that it may be, given how few were looked at. Null of nothing.
CREATE OR REPLACE FUNCTION wilson_low(part, whole) AS
  CASE
    WHEN whole > 0
      THEN (
        ratio(part, whole) + 1.9208 / whole
          - 1.96 * sqrt(ratio(part, whole) * (1 - ratio(part, whole)) / whole + 0.9604 / (CAST(whole AS DOUBLE) * whole))
      ) / (1 + 3.8416 / whole)
  END;
