-- A week begins on a Monday.
last_of_week(DATE '2026-06-08') -> DATE '2026-06-14';
last_of_week(DATE '2026-06-14') -> DATE '2026-06-14';
last_of_week(DATE '2026-06-15') -> DATE '2026-06-21';
-- It can end in another year.
last_of_week(DATE '2025-12-29') -> DATE '2026-01-04';
last_of_week(CAST(NULL AS DATE)) -> CAST(NULL AS DATE);
