-- Standard credits, rounded half up. Computed in decimals, because in doubles 0.35 x 90 tokens are a little less than 31.5.
CREATE OR REPLACE FUNCTION credits(multiplier, tokens, write_rate, write_tokens, read_rate, read_tokens) AS
  CAST(
    floor(
      CAST('0.000000000001' AS DECIMAL(38, 12)) * (
        millionths(multiplier) * (
          CAST(tokens AS DECIMAL(38, 0)) * 1000000
          + CAST(write_tokens AS DECIMAL(38, 0)) * millionths(write_rate)
          + CAST(read_tokens AS DECIMAL(38, 0)) * millionths(read_rate)
        )
        + 500000000000
      )
    ) AS BIGINT
  );
