-- Tokens of a kind whose price is unknown; 0 if it is known.
CREATE OR REPLACE FUNCTION unpriced(price, tokens) AS CASE WHEN price IS NULL THEN tokens ELSE 0 END;
