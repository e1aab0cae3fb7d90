-- One row is one person, or one team of a person, that a vendor lists, with who it is in Daybook, or may be.
-- Grain: (report, name, team).
WITH
listed AS (
  SELECT
    report,
    user_id,
    name,
    team,
    is_seat,
    last_active,
    lower_case(user_id) AS spelling,
    -- Logins of managed users end in the short name of their enterprise.
    replaced(replaced(lower_case(user_id), '[@_].*$', ''), '[^a-z0-9]', '-') AS login
  FROM vendor_roster
  WHERE org_id = $org_id
),
named AS (
  SELECT user_id, user_id AS alias
  FROM people
  WHERE org_id = $org_id
  UNION
  SELECT user_id, alias
  FROM aliases
  WHERE org_id = $org_id
),
known AS (
  SELECT
    lower_case(alias) AS spelling,
    min(user_id) AS user_id
  FROM named
  GROUP BY lower_case(alias)
),
-- Users of whom nobody has said who they are can be meant too, but not those under the vendor's own names.
candidate AS (
  SELECT user_id, alias
  FROM named
  UNION
  SELECT user_id, user_id AS alias
  FROM coverage
  WHERE org_id = $org_id
    AND user_id <> 'unknown'
    AND user_id NOT IN (SELECT alias FROM named)
    AND lower_case(user_id) NOT IN (SELECT spelling FROM listed)
  UNION
  SELECT user_id, user_email AS alias
  FROM user_emails
  WHERE org_id = $org_id
    AND user_email <> ''
    AND user_id <> 'unknown'
    AND user_id NOT IN (SELECT alias FROM named)
    AND lower_case(user_id) NOT IN (SELECT spelling FROM listed)
),
-- A login that two of them could have tells nothing.
alike AS (
  SELECT
    replaced(replaced(lower_case(alias), '@.*$', ''), '[^a-z0-9]', '-') AS login,
    min(user_id) AS user_id
  FROM candidate
  GROUP BY replaced(replaced(lower_case(alias), '@.*$', ''), '[^a-z0-9]', '-')
  HAVING count(DISTINCT user_id) = 1
),
-- Who used the vendor's agents of late, by all names.
used AS (
  SELECT
    CASE WHEN agent = 'cursor' THEN 'cursor-members' ELSE 'github-seats' END AS report,
    lower_case(user_id) AS spelling
  FROM coverage
  WHERE org_id = $org_id
    AND day >= $since
    AND (agent = 'cursor' OR agent LIKE '%copilot%')
  GROUP BY
    CASE WHEN agent = 'cursor' THEN 'cursor-members' ELSE 'github-seats' END,
    lower_case(user_id)
),
placed AS (
  SELECT
    listed.report AS report,
    listed.user_id AS name,
    listed.name AS full_name,
    listed.team AS team,
    listed.is_seat AS is_seat,
    listed.last_active AS last_active,
    listed.spelling AS spelling,
    coalesce(known.user_id, '') AS known_id,
    coalesce(alike.user_id, '') AS alike_id
  FROM listed
  LEFT JOIN known
    ON known.spelling = listed.spelling
  LEFT JOIN alike
    ON alike.login = listed.login
),
present_team AS (
  SELECT
    user_id,
    min(name) AS name
  FROM memberships
  WHERE org_id = $org_id
    AND kind = 'team'
    AND first_day <= $today
    AND last_day >= $today
  GROUP BY user_id
)
SELECT
  CAST(placed.report AS VARCHAR) AS report,
  CAST(placed.name AS VARCHAR) AS name,
  CAST(placed.full_name AS VARCHAR) AS full_name,
  CAST(placed.team AS VARCHAR) AS team,
  CAST(placed.known_id AS VARCHAR) AS known_id,
  CAST(placed.alike_id AS VARCHAR) AS alike_id,
  CAST(coalesce(present_team.name, '') AS VARCHAR) AS present_team,
  CASE
    WHEN placed.is_seat
      AND placed.last_active < CAST($since AS VARCHAR)
      AND (placed.report, placed.spelling) NOT IN (SELECT report, spelling FROM used)
      AND (placed.report, lower_case(placed.known_id)) NOT IN (SELECT report, spelling FROM used)
      AND (placed.report, lower_case(placed.alike_id)) NOT IN (SELECT report, spelling FROM used)
      THEN 1
    ELSE 0
  END AS is_unused
FROM placed
LEFT JOIN present_team
  ON present_team.user_id = CASE WHEN placed.known_id = '' THEN placed.alike_id ELSE placed.known_id END
ORDER BY
  name,
  report,
  team
