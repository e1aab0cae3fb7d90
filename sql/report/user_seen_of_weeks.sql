-- One row is one user who was active in one of the weeks that are read as such (whole_weeks), or on one day outside of them, in one part of
-- a session. It has filters and groups by agent, client and repository.
-- Grain: (day, user_id, agent, client, repo), and of days also the session.
SELECT
  day,
  group_key_of($group_by, '', agent, client, repo, '') AS group_key,
  user_id
FROM session_parts
WHERE org_id = $org_id
  AND day BETWEEN $earliest AND $to
  AND (day < $weeks_from OR day > $weeks_to)
  AND (day < $previous_weeks_from OR day > $previous_weeks_to)
  AND ($agent IS NULL OR agent = $agent)
  AND ($client IS NULL OR client = $client)
  AND ($repo IS NULL OR repo = $repo)
UNION ALL
SELECT
  day,
  group_key_of($group_by, '', agent, client, repo, '') AS group_key,
  user_id
FROM part_weeks
WHERE org_id = $org_id
  AND (day BETWEEN $weeks_from AND $weeks_to OR day BETWEEN $previous_weeks_from AND $previous_weeks_to)
  AND ($agent IS NULL OR agent = $agent)
  AND ($client IS NULL OR client = $client)
  AND ($repo IS NULL OR repo = $repo)
