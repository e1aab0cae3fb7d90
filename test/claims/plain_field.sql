plain_field(CAST(7 AS BIGINT)) -> '7';
plain_field(CAST(-5 AS BIGINT)) -> '-5';
plain_field(CAST(0 AS BIGINT)) -> '0';
plain_field(CAST(9007199254740993 AS BIGINT)) -> '9007199254740993';
plain_field(CAST(NULL AS BIGINT)) -> '';
plain_field(CAST('2026-06-10' AS DATE)) -> '2026-06-10';
plain_field(CAST('2020-01-01' AS DATE)) -> '2020-01-01';
plain_field(CAST(NULL AS DATE)) -> '';
