-- The last day of the ISO week that a day is in, a Sunday.
CREATE OR REPLACE FUNCTION last_of_week(of_day) AS CAST(date_trunc('week', of_day) AS DATE) + 6;
