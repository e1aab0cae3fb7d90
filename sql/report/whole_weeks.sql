-- One row is the ISO weeks of which sums can be read instead of days: those within the range (0), or within as many days before it (1). It
-- isn't there if a last day of these weeks isn't built.
-- Grain: (is_previous).
SELECT
  CAST(is_previous AS BIGINT) AS is_previous,
  CAST(min(day) - 6 AS DATE) AS first_day,
  CAST(max(day) AS DATE) AS last_day
FROM (
  SELECT
    day,
    CASE WHEN day < $from THEN 1 ELSE 0 END AS is_previous
  FROM activity
  WHERE org_id = $org_id
    AND day BETWEEN $previous_from + 6 AND $to
    AND day NOT BETWEEN $from AND $from + 5
    AND last_of_week(day) = day
) AS sunday
GROUP BY is_previous
HAVING CAST(max(day) - min(day) AS BIGINT) = (count(*) - 1) * 7
