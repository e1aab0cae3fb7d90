-- The organizations. One row is one organization.
-- Grain: (org_id).
-- $now: what says which keys are valid.
SELECT
  organizations.org_id                AS org_id,
  organizations.created_at            AS created_at,
  coalesce(valid.keys, 0)             AS valid_keys,
  -- nobody has set anything up for it but keys
  organizations.org_id NOT IN (
    SELECT org_id FROM computers
    UNION ALL
    SELECT org_id FROM control_revisions
    UNION ALL
    SELECT org_id FROM readiness_reports
    UNION ALL
    SELECT org_id FROM budget_revisions
    UNION ALL
    SELECT org_id FROM alert_revisions
    UNION ALL
    SELECT org_id FROM vendor_revisions
    UNION ALL
    SELECT org_id FROM people
    UNION ALL
    SELECT org_id FROM scim_users
    UNION ALL
    SELECT org_id FROM scim_groups
    UNION ALL
    SELECT org_id FROM deleted_scim_users
  )                                   AS is_empty
FROM organizations
LEFT JOIN (
  SELECT
    org_id,
    count(*) AS keys
  FROM keys
  WHERE
    revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > instant($now))
  GROUP BY org_id
) AS valid ON valid.org_id = organizations.org_id
ORDER BY org_id
