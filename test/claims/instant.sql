-- Unix milliseconds are an instant, to the millisecond and before 1970 too.
instant(0) -> CAST('1970-01-01 00:00:00' AS TIMESTAMP(3));
instant(1781518200123) -> CAST('2026-06-15 10:10:00.123' AS TIMESTAMP(3));
instant(-1) -> CAST('1969-12-31 23:59:59.999' AS TIMESTAMP(3));
instant(NULL) -> NULL;
