-- The cost of tokens in USD, given the price of a million of them. Exact. No tokens cost 0, even if the price is unknown.
CREATE OR REPLACE FUNCTION usd(price, tokens) AS
  CASE
    WHEN tokens = 0 THEN CAST(0 AS DECIMAL(38, 12))
    ELSE CAST(price AS DECIMAL(38, 6)) * CAST('0.000001' AS DECIMAL(38, 6)) * CAST(tokens AS DECIMAL(38, 0))
  END;
