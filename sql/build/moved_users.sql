-- One row is one day whose telemetry counts for other users than before, because the events of another day have changed. Due days are
-- included: they are built anyway, and this is the reason why their rows change.
-- Reads fresh_users, and decided_users as the last builds left it. Grain: (org_id, day).
SELECT DISTINCT
  org_id,
  day
FROM (
  SELECT
    org_id,
    day
  FROM (
    SELECT org_id, day, session_id, agent, channel, named_user_id, user_id FROM fresh_users
    UNION ALL
    SELECT org_id, day, session_id, agent, channel, named_user_id, user_id
    FROM decided_users
    WHERE (org_id, day) IN (SELECT org_id, day FROM user_days)
  ) AS decided
  GROUP BY
    org_id,
    day,
    session_id,
    agent,
    channel,
    named_user_id,
    user_id
  HAVING count(*) = 1
) AS moved
