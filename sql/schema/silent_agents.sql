-- One row is one agent of one user that went silent: it reported on at least 5 of 14 days, and then no more until the newest built day,
-- for three days from Monday to Friday.
-- Grain: (org_id, user_id, agent).
CREATE OR REPLACE VIEW silent_agents AS
SELECT
  coverage.org_id AS org_id,
  coverage.user_id AS user_id,
  coverage.agent AS agent,
  max(coverage.day) AS last_day,       -- on which it reported
  count(DISTINCT coverage.day) AS days  -- on which it reported, of the 14
FROM coverage
JOIN (
  SELECT
    org_id,
    -- The first of the three days. 2001-01-01 was a Monday.
    newest_day - CAST(
      CASE date_diff('day', DATE '2001-01-01', newest_day) % 7 WHEN 0 THEN 4 WHEN 1 THEN 4 WHEN 5 THEN 3 WHEN 6 THEN 4 ELSE 2 END AS INTEGER
    ) AS quiet_from
  FROM (
    SELECT
      org_id,
      max(day) AS newest_day
    FROM activity
    GROUP BY org_id
  ) AS built
) AS silence
  ON silence.org_id = coverage.org_id
WHERE coverage.day >= silence.quiet_from - 14
GROUP BY
  coverage.org_id,
  coverage.user_id,
  coverage.agent
HAVING max(coverage.day) < max(silence.quiet_from)
  AND count(DISTINCT coverage.day) >= 5
