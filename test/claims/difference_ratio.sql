-- The difference is a share of the greater count, whichever that is.
difference_ratio(99, 100) -> 0.01;
difference_ratio(100, 99) -> 0.01;
difference_ratio(7, 7) -> 0.0;
difference_ratio(0, 5) -> 1.0;
difference_ratio(0, 0) -> 0.0;
-- What isn't known doesn't differ.
difference_ratio(NULL, 5) -> NULL;
difference_ratio(5, NULL) -> NULL;
