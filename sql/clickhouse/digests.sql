-- The digests of each day's tables, from the newest build that counts.
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
