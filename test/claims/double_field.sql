double_field(CAST(0.1 AS DOUBLE)) -> '4591870180066957722';
double_field(CAST(1.5 AS DOUBLE)) -> '4609434218613702656';
double_field(CAST(0 AS DOUBLE)) -> '0';
-- A zero has no sign.
double_field(-1 * CAST(0 AS DOUBLE)) -> '0';
double_field(CAST(1 AS DOUBLE) / CAST(3 AS DOUBLE)) -> '4599676419421066581';
double_field(CAST(NULL AS DOUBLE)) -> '';
