-- A check's text about a number that was counted in two ways: '' if both are equal. A missing one counts as 0.
CREATE OR REPLACE FUNCTION disagreement(claim, counted, of_day) AS
  CASE
    WHEN coalesce(counted, 0) = coalesce(of_day, 0) THEN ''
    ELSE claim || ' ' || CAST(coalesce(counted, 0) AS VARCHAR) || ' where the day has ' || CAST(coalesce(of_day, 0) AS VARCHAR) || '; '
  END;
