integer_field(CAST(7 AS BIGINT)) -> '7';
integer_field(CAST(-5 AS BIGINT)) -> '-5';
integer_field(CAST(0 AS BIGINT)) -> '0';
integer_field(CAST(9007199254740993 AS BIGINT)) -> '9007199254740993';
coalesce(integer_field(CAST(NULL AS BIGINT)), '') -> '';
