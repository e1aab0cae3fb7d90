-- One row is one agent of one user that went silent: it reported on at least 5 days of 14, the last of them within 92 days before the newest
-- built day, and then no more until that, for three days from Monday to Friday.
-- Grain: (org_id, user_id, agent).
CREATE OR REPLACE VIEW silent_agents AS
SELECT
  coverage.org_id AS org_id,
  coverage.user_id AS user_id,
  coverage.agent AS agent,
  max(coverage.day) AS last_day,       -- on which it reported
  count(DISTINCT coverage.day) AS days  -- on which it reported, of the 14 up to the last one
FROM coverage
JOIN (
  SELECT
    coverage.org_id AS org_id,
    coverage.user_id AS user_id,
    coverage.agent AS agent,
    max(coverage.day) AS stopped_on
  FROM coverage
  JOIN (
    SELECT
      org_id,
      max(day) AS newest_day
    FROM activity
    GROUP BY org_id
  ) AS built
    ON built.org_id = coverage.org_id
  WHERE coverage.day >= built.newest_day - 92
  GROUP BY
    coverage.org_id,
    coverage.user_id,
    coverage.agent
  HAVING max(coverage.day) < quiet_from(max(built.newest_day))
) AS stopped
  ON stopped.org_id = coverage.org_id
  AND stopped.user_id = coverage.user_id
  AND stopped.agent = coverage.agent
WHERE coverage.day > stopped.stopped_on - 14
GROUP BY
  coverage.org_id,
  coverage.user_id,
  coverage.agent
HAVING count(DISTINCT coverage.day) >= 5
