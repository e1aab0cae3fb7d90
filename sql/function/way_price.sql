-- The price of a million tokens of a call, by the way in which it was made: the one above the step if its prompt exceeds that, times what its
-- speed, service tier and region cost more. Rounded half up to six decimals, as prices are.
CREATE OR REPLACE FUNCTION way_price(price, price_above, step_tokens, prompt_class, factor) AS
  CAST(
    floor(
      CAST(CASE WHEN prompt_class >= step_tokens THEN price_above ELSE price END AS DECIMAL(38, 6)) * CAST(factor AS DECIMAL(38, 6)) * 1000000
      + CAST('0.5' AS DECIMAL(38, 6))
    ) * CAST('0.000001' AS DECIMAL(38, 6)) AS DECIMAL(38, 6)
  );
