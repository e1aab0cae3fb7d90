-- The batches that count: a batch's row here is written last, and makes all of it count at once.
CREATE OR REPLACE VIEW batches AS
SELECT *
FROM batches_rows
WHERE batch NOT IN (SELECT number FROM abandoned WHERE kind = 'batch')
