-- The inputs that each day was last built from, by the newest build that counts.
CREATE OR REPLACE VIEW day_inputs AS
SELECT * EXCEPT (build)
FROM day_inputs_rows
WHERE build_counts(build)
ORDER BY build DESC
LIMIT 1 BY
  org_id,
  day
