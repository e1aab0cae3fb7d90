-- The mended lines of batches that count.
CREATE OR REPLACE VIEW mended_lines AS
SELECT *
FROM mended_lines_rows
WHERE batch_counts(batch)
