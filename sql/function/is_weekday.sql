-- Whether a day is one from Monday to Friday.
CREATE OR REPLACE FUNCTION is_weekday(day) AS CAST(day - CAST(date_trunc('week', day) AS DATE) AS INTEGER) < 5;
