-- The price is that of a million tokens.
usd(CAST(3 AS DECIMAL(12, 6)), 1000000) -> CAST(3 AS DECIMAL(38, 12));
usd(CAST('0.3' AS DECIMAL(12, 6)), 7) -> CAST('0.0000021' AS DECIMAL(38, 12));
-- The smallest price of one token, and the greatest of many.
usd(CAST('0.000001' AS DECIMAL(12, 6)), 1) -> CAST('0.000000000001' AS DECIMAL(38, 12));
usd(CAST('1000' AS DECIMAL(12, 6)), 1000000000000000) -> CAST('1000000000000' AS DECIMAL(38, 12));
-- What isn't known has no cost, but nothing costs nothing.
usd(CAST(NULL AS DECIMAL(12, 6)), 1) -> CAST(NULL AS DECIMAL(38, 12));
usd(CAST(NULL AS DECIMAL(12, 6)), 0) -> CAST(0 AS DECIMAL(38, 12));
usd(CAST(3 AS DECIMAL(12, 6)), CAST(NULL AS BIGINT)) -> CAST(NULL AS DECIMAL(38, 12));
