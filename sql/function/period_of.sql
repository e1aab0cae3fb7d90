-- The first day of the day, week or month of a day; `first`, the first day of the range, for a day in a range that isn't divided, and 1970-01-01 for one before it.
CREATE OR REPLACE FUNCTION period_of(period, day, first) AS
  CASE period
    WHEN 'day' THEN day
    WHEN 'week' THEN CAST(date_trunc('week', day) AS DATE)
    WHEN 'month' THEN CAST(date_trunc('month', day) AS DATE)
    ELSE CASE WHEN day >= first THEN first ELSE DATE '1970-01-01' END
  END;
