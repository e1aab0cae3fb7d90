-- The inputs that each day was last built from, by the newest build that counts.
CREATE OR REPLACE VIEW day_inputs AS
SELECT * EXCEPT (build)
FROM day_inputs_rows
WHERE build <= (SELECT max(version) FROM days_rows)
  AND build NOT IN (SELECT number FROM abandoned WHERE kind = 'build')
ORDER BY build DESC
LIMIT 1 BY
  org_id,
  day
