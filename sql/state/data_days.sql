-- One row is one built day of an organization that has events.
-- Grain: (day).
SELECT CAST(day AS DATE) AS day
FROM quality
WHERE org_id = $org_id
  AND events > 0
  AND day >= $from
ORDER BY day
