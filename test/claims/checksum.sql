-- The same for the same rows in another order, another for other rows, and for none nothing.
(SELECT checksum(x) FROM (SELECT 'b' AS x UNION ALL SELECT 'a' AS x) AS t) -> (SELECT checksum(x) FROM (SELECT 'a' AS x UNION ALL SELECT 'b' AS x) AS t);
(SELECT checksum(x) FROM (SELECT 'a' AS x) AS t) = (SELECT checksum(x) FROM (SELECT 'b' AS x) AS t) -> (1 = 0);
(SELECT checksum(x) FROM (SELECT 'a' AS x) AS t) = (SELECT checksum(x) FROM (SELECT 'a' AS x UNION ALL SELECT 'b' AS x) AS t) -> (1 = 0);
(SELECT checksum(x) FROM (SELECT 'a' AS x) AS t WHERE 1 = 0) -> NULL;
