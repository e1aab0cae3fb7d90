-- The cost of tokens in USD, given the price of a million of them. Exact. 0 if the price is unknown: such tokens count as unpriced.
CREATE OR REPLACE FUNCTION known_usd(price, tokens) AS coalesce(usd(price, tokens), CAST(0 AS DECIMAL(38, 12)));
