-- What names a batch to the one who brings it, who can find out after a fall whether it was settled.
ALTER TABLE batches ADD COLUMN token VARCHAR
