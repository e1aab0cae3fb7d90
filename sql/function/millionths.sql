-- A rate of the rate card as an integer: millionths.
CREATE OR REPLACE FUNCTION millionths(rate) AS CAST(floor(rate * 1000000 + 0.5) AS DECIMAL(38, 0));
