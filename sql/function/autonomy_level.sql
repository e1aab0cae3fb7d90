-- The autonomy level of a mode; unknown without one.
CREATE OR REPLACE FUNCTION autonomy_level(mode) AS
  CASE
    WHEN mode = 'auto-high' THEN 'auto_high'
    WHEN mode = 'auto-medium' THEN 'auto_medium'
    WHEN mode = 'auto-low' THEN 'auto_low'
    WHEN mode IN ('spec', 'manual') THEN 'manual'
    ELSE 'unknown'
  END;
