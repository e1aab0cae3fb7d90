-- One row is one table about the people of an organization that is in `wanted`, as many rows as it has, and the newest change of the people.
-- If the organization has no people any more, `table_name` is null.
-- Grain: (org_id, table_name).
WITH newest_change AS (
  SELECT
    org_id AS changed_org,
    max(revision) AS revision
  FROM people_revisions
  WHERE org_id IN (SELECT org_id FROM wanted)
  GROUP BY
    org_id
),
stored_row AS (
  SELECT
    org_id AS stored_org,
    'people' AS stored_in
  FROM people
  UNION ALL
  SELECT
    org_id AS stored_org,
    'aliases' AS stored_in
  FROM aliases
  UNION ALL
  SELECT
    org_id AS stored_org,
    'memberships' AS stored_in
  FROM memberships
)
SELECT
  CAST(newest_change.changed_org AS VARCHAR) AS org_id,
  CAST(stored_row.stored_in AS VARCHAR) AS table_name,
  CAST(count(stored_row.stored_in) AS BIGINT) AS row_count,
  CAST(newest_change.revision AS BIGINT) AS revision
FROM newest_change
LEFT JOIN stored_row
  ON stored_row.stored_org = newest_change.changed_org
GROUP BY
  newest_change.changed_org,
  newest_change.revision,
  stored_row.stored_in
ORDER BY
  org_id,
  table_name
