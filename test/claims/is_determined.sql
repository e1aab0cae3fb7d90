is_determined(0, 3.75, 6.0) -> 1;
is_determined(1, 3.75, 6.0) -> 0;
-- One price for all writes.
is_determined(1, 3.75, 3.75) -> 1;
-- Nothing is listed.
is_determined(1, CAST(NULL AS DECIMAL(12, 6)), CAST(NULL AS DECIMAL(12, 6))) -> 0;
is_determined(0, CAST(NULL AS DECIMAL(12, 6)), CAST(NULL AS DECIMAL(12, 6))) -> 1;
