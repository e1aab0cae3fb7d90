-- The digests of each day's tables, from the newest build that counts.
CREATE OR REPLACE VIEW digests AS
SELECT * EXCEPT (build)
FROM digests_rows
WHERE build_counts(build)
ORDER BY build DESC
LIMIT 1 BY
  org_id,
  day,
  table_name
