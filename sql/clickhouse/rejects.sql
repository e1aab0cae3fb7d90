-- The rejects of batches that count.
CREATE OR REPLACE VIEW rejects AS
SELECT *
FROM rejects_rows
WHERE batch_counts(batch)
