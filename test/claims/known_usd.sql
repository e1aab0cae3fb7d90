-- The price is that of a million tokens.
known_usd(CAST('0.3' AS DECIMAL(12, 6)), 7) -> CAST('0.0000021' AS DECIMAL(38, 12));
-- What isn't known adds nothing.
known_usd(CAST(NULL AS DECIMAL(12, 6)), 1) -> CAST(0 AS DECIMAL(38, 12));
known_usd(CAST(NULL AS DECIMAL(12, 6)), 0) -> CAST(0 AS DECIMAL(38, 12));
