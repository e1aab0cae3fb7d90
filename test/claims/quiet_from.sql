quiet_from(DATE '2026-06-10') -> DATE '2026-06-08';
quiet_from(DATE '2026-06-12') -> DATE '2026-06-10';
-- A weekend doesn't count, before and behind.
quiet_from(DATE '2026-06-08') -> DATE '2026-06-04';
quiet_from(DATE '2026-06-09') -> DATE '2026-06-05';
quiet_from(DATE '2026-06-13') -> DATE '2026-06-10';
quiet_from(DATE '2026-06-14') -> DATE '2026-06-10';
