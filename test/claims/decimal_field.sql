-- Engines write decimals with and without zeros at the end; their billionths are the same.
decimal_field(CAST('0.5' AS DECIMAL(18, 9))) -> '500000000';
decimal_field(CAST('0.002825001' AS DECIMAL(18, 9))) -> '2825001';
decimal_field(CAST('0' AS DECIMAL(18, 9))) -> '0';
decimal_field(CAST('999999999.999999999' AS DECIMAL(18, 9))) -> '999999999999999999';
decimal_field(CAST(NULL AS DECIMAL(18, 9))) -> '';
