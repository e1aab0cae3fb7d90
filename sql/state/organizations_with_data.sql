-- One row is one organization to which something was ever sent.
-- Grain: (org_id).
SELECT CAST(org_id AS VARCHAR) AS org_id
FROM (
  SELECT org_id FROM batches
  UNION ALL
  SELECT org_id FROM rejects
  UNION ALL
  SELECT org_id FROM days
  UNION ALL
  SELECT org_id FROM removed_days
) AS sent
GROUP BY org_id
