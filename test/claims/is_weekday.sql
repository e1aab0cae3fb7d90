-- Monday and Friday are weekdays.
is_weekday(DATE '2026-06-01') -> true;
is_weekday(DATE '2026-06-05') -> true;
-- Saturday and Sunday aren't.
is_weekday(DATE '2026-06-06') -> false;
is_weekday(DATE '2026-06-07') -> false;
