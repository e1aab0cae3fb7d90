day_field(CAST('2026-06-10' AS DATE)) -> '2026-06-10';
day_field(CAST('2020-01-01' AS DATE)) -> '2020-01-01';
coalesce(day_field(CAST(NULL AS DATE)), '') -> '';
