-- A price of 0 is known.
unpriced(CAST(NULL AS DECIMAL(38, 6)), 7) -> 7;
unpriced(CAST('1' AS DECIMAL(38, 6)), 7) -> 0;
unpriced(CAST('0' AS DECIMAL(38, 6)), 7) -> 0;
