-- The restatements of builds that count.
CREATE OR REPLACE VIEW restatements AS
SELECT * EXCEPT (build)
FROM restatements_rows
WHERE build_counts(build)
