-- Linear interpolation between closest ranks: between the second and the third of four lies the share 0.5.
(SELECT percentile(0.5, x) FROM (SELECT 1.0 AS x UNION ALL SELECT 2.0 AS x UNION ALL SELECT 3.0 AS x UNION ALL SELECT 4.0 AS x) AS sample) -> 2.5;
(SELECT percentile(0.25, x) FROM (SELECT 1.0 AS x UNION ALL SELECT 2.0 AS x UNION ALL SELECT 3.0 AS x UNION ALL SELECT 4.0 AS x UNION ALL SELECT 5.0 AS x) AS sample) -> 2.0;
(SELECT percentile(0.0, x) FROM (SELECT 4.0 AS x UNION ALL SELECT 2.0 AS x UNION ALL SELECT 9.0 AS x) AS sample) -> 2.0;
(SELECT percentile(1.0, x) FROM (SELECT 4.0 AS x UNION ALL SELECT 2.0 AS x UNION ALL SELECT 9.0 AS x) AS sample) -> 9.0;
