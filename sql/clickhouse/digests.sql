-- The digests that the newest build that counts left of each day's tables.
CREATE OR REPLACE VIEW digests AS
SELECT * EXCEPT (build)
FROM digests_rows
WHERE build <= (SELECT max(version) FROM days_rows)
  AND build NOT IN (SELECT number FROM abandoned WHERE kind = 'build')
ORDER BY build DESC
LIMIT 1 BY
  org_id,
  day,
  table_name
