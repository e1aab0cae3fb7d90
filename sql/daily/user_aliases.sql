-- One row is one name of a user on one day that is an alias of a person: a name of events, or one for which events count by decided_users.
-- Reads aliases as they are when the day is built.
-- Grain: (org_id, day, named_user_id).
-- Looks back: 0 days.
SELECT DISTINCT
  CAST(named.org_id AS VARCHAR) AS org_id,
  CAST(named.day AS DATE) AS day,
  CAST(named.user_id AS VARCHAR) AS named_user_id,
  CAST(aliases.user_id AS VARCHAR) AS user_id
FROM (
  SELECT
    org_id,
    day,
    user_id
  FROM events
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
    AND org_id IN (SELECT org_id FROM aliases)
  GROUP BY
    org_id,
    day,
    user_id
  UNION ALL
  SELECT DISTINCT
    org_id,
    day,
    user_id
  FROM decided_users
  WHERE (org_id, day) IN (SELECT org_id, day FROM due)
) AS named
JOIN aliases
  ON aliases.org_id = named.org_id
  AND aliases.alias = named.user_id
