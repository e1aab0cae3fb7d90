-- The same in any order, and the same number on each engine.
(SELECT unordered_digest(x) FROM (SELECT 'a' AS x) AS t) -> 'a7e6c1c48bba4ae35f6d1d8b094940b3637e481f0880547be76d77ba190f81bf';
(SELECT unordered_digest(x) FROM (SELECT 'a' AS x UNION ALL SELECT 'Ö' AS x) AS t) -> 'd434d84b538073a2b2b92a418c79733c31b21e04e50303d9ac0407f2dda88ee5';
(SELECT unordered_digest(x) FROM (SELECT 'Ö' AS x UNION ALL SELECT 'a' AS x) AS t) -> 'd434d84b538073a2b2b92a418c79733c31b21e04e50303d9ac0407f2dda88ee5';
