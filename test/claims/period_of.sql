period_of('day', DATE '2026-06-03', DATE '2026-06-02') -> DATE '2026-06-03';
-- Weeks begin on Monday.
period_of('week', DATE '2026-06-07', DATE '2026-06-02') -> DATE '2026-06-01';
period_of('month', DATE '2026-06-30', DATE '2026-06-02') -> DATE '2026-06-01';
-- A range that isn't divided begins on its first day, and what is before it has the first of all days.
period_of('none', DATE '2026-06-30', DATE '2026-06-02') -> DATE '2026-06-02';
period_of('none', DATE '2026-06-02', DATE '2026-06-02') -> DATE '2026-06-02';
period_of('none', DATE '2026-06-01', DATE '2026-06-02') -> DATE '1970-01-01';
