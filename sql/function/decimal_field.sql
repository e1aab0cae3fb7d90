-- An amount with nine decimals in the row text that a digest is computed from: billionths.
CREATE OR REPLACE FUNCTION decimal_field(amount) AS coalesce(CAST(CAST(CAST(amount AS DECIMAL(38, 9)) * 1000000000 AS BIGINT) AS VARCHAR), '');
