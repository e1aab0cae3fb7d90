-- One row is one built day of an organization whose rows count for other users than its aliases say now.
-- Grain: (org_id, day).
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day
FROM (
  -- A name that has become an alias.
  SELECT
    org_id,
    day
  FROM coverage
  WHERE org_id = $org_id
    AND user_id IN (SELECT alias FROM aliases WHERE org_id = $org_id)
  UNION ALL
  -- A name that was an alias, and is none any more, or is another person's.
  SELECT
    org_id,
    day
  FROM user_aliases
  WHERE org_id = $org_id
    AND (named_user_id, user_id) NOT IN (SELECT alias, user_id FROM aliases WHERE org_id = $org_id)
) AS renamed
WHERE day NOT IN (SELECT day FROM removed_days WHERE org_id = $org_id)
GROUP BY
  org_id,
  day
