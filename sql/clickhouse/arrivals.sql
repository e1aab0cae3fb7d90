-- The arrivals of batches that count.
CREATE OR REPLACE VIEW arrivals AS
SELECT *
FROM arrivals_rows
WHERE batch_counts(batch)
