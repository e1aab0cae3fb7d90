-- One row is one file, as recorded by the newest batch that counts.
CREATE OR REPLACE VIEW ingested_files AS
SELECT *
FROM ingested_files_rows
WHERE batch_counts(batch)
ORDER BY batch DESC
LIMIT 1 BY
  org_id,
  source,
  user_id,
  path
