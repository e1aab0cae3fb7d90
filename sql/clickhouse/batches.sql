-- The batches that count. A batch's row here is written last and makes all of the batch count at once.
CREATE OR REPLACE VIEW batches AS
SELECT *
FROM batches_rows
WHERE own_batch_counts(batch)
