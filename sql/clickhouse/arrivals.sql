-- The arrivals of batches that count.
CREATE OR REPLACE VIEW arrivals AS
SELECT *
FROM arrivals_rows
WHERE batch <= (SELECT max(batch) FROM batches_rows)
  AND batch NOT IN (SELECT number FROM abandoned WHERE kind = 'batch')
