-- Nine tenths of the way from the first to the last, by rank.
(SELECT p90(x) FROM (SELECT 1.0 AS x UNION ALL SELECT 2.0 AS x) AS sample) -> 1.9;
(SELECT p90(x) FROM (SELECT 7.0 AS x) AS sample) -> 7.0;
(SELECT p90(x) FROM (SELECT 1.0 AS x UNION ALL SELECT 2.0 AS x UNION ALL SELECT 3.0 AS x UNION ALL SELECT 4.0 AS x UNION ALL SELECT 5.0 AS x UNION ALL SELECT 6.0 AS x UNION ALL SELECT 7.0 AS x UNION ALL SELECT 8.0 AS x UNION ALL SELECT 9.0 AS x UNION ALL SELECT 10.0 AS x UNION ALL SELECT 11.0 AS x) AS sample) -> 10.0;
-- To the last bit of a double, where an engine's own percentile adds in another order.
(SELECT p90(x) FROM (SELECT CAST(9 AS DOUBLE) AS x UNION ALL SELECT CAST(13 AS DOUBLE) AS x) AS sample) -> 12.600000000000001;
-- What isn't known takes no part; of nothing there is none.
(SELECT p90(x) FROM (SELECT CAST(NULL AS DOUBLE) AS x UNION ALL SELECT 1.0 AS x UNION ALL SELECT 2.0 AS x) AS sample) -> 1.9;
(SELECT p90(x) FROM (SELECT CAST(NULL AS DOUBLE) AS x) AS sample) -> NULL;
