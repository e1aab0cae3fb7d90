-- The rejects of batches that count.
CREATE OR REPLACE VIEW rejects AS
SELECT *
FROM rejects_rows
WHERE batch <= (SELECT max(batch) FROM batches_rows)
  AND batch NOT IN (SELECT number FROM abandoned WHERE kind = 'batch')
