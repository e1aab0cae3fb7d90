-- The quotient is a double, never rounded.
ratio(1, 2) -> 0.5;
ratio(1, 3) -> 0.3333333333333333;
ratio(7, 7) -> 1.0;
ratio(0, 5) -> 0.0;
-- Nothing to divide by is 0, whatever there is to divide.
ratio(5, 0) -> 0.0;
ratio(0, 0) -> 0.0;
-- What isn't known stays so.
ratio(NULL, 2) -> NULL;
ratio(2, NULL) -> NULL;
