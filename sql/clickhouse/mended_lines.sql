-- The mended lines of batches that count.
CREATE OR REPLACE VIEW mended_lines AS
SELECT *
FROM mended_lines_rows
WHERE batch <= (SELECT max(batch) FROM batches_rows)
  AND batch NOT IN (SELECT number FROM abandoned WHERE kind = 'batch')
