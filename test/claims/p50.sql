-- The middle one, or the middle between the two in the middle, in whatever order they come.
(SELECT p50(x) FROM (SELECT 3.0 AS x UNION ALL SELECT 1.0 AS x UNION ALL SELECT 2.0 AS x) AS sample) -> 2.0;
(SELECT p50(x) FROM (SELECT 4.0 AS x UNION ALL SELECT 1.0 AS x UNION ALL SELECT 3.0 AS x UNION ALL SELECT 2.0 AS x) AS sample) -> 2.5;
(SELECT p50(x) FROM (SELECT 7.0 AS x) AS sample) -> 7.0;
(SELECT p50(x) FROM (SELECT 0.0 AS x UNION ALL SELECT 0.0 AS x UNION ALL SELECT 9.0 AS x) AS sample) -> 0.0;
-- What isn't known takes no part; of nothing there is none.
(SELECT p50(x) FROM (SELECT CAST(NULL AS DOUBLE) AS x UNION ALL SELECT 1.0 AS x UNION ALL SELECT CAST(NULL AS DOUBLE) AS x UNION ALL SELECT 2.0 AS x) AS sample) -> 1.5;
(SELECT p50(x) FROM (SELECT CAST(NULL AS DOUBLE) AS x UNION ALL SELECT CAST(NULL AS DOUBLE) AS x) AS sample) -> NULL;
(SELECT p50(x) FROM (SELECT 1.0 AS x) AS sample WHERE x > 5) -> NULL;
