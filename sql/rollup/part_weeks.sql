-- One row is one user who was active in one ISO week with one agent, on one client and in one repository. Its day is the last of the week, a
-- Sunday.
-- Grain: (org_id, day, user_id, agent, client, repo).
SELECT
  org_id,
  last_of_week(day) AS day,
  user_id,
  agent,
  client,
  repo
FROM session_parts
GROUP BY
  org_id,
  last_of_week(day),
  user_id,
  agent,
  client,
  repo
