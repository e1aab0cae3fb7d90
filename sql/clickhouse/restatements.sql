-- The restatements of builds that count.
CREATE OR REPLACE VIEW restatements AS
SELECT * EXCEPT (build)
FROM restatements_rows
WHERE build <= (SELECT max(version) FROM days_rows)
  AND build NOT IN (SELECT number FROM abandoned WHERE kind = 'build')
