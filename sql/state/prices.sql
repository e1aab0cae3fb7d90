-- One row is the price list, with the digest of the file that it was read from.
-- Grain: ().
SELECT CAST(value AS VARCHAR) AS digest
FROM facts
WHERE name = 'price_list'
