-- One row is one event that doesn't count, because a better channel reports the same.
-- Grain: (org_id, day, event_id).
-- Looks back: 0 days.
SELECT
  CAST(org_id AS VARCHAR) AS org_id,
  CAST(day AS DATE) AS day,
  CAST(event_id AS VARCHAR) AS event_id,
  CAST(reason AS VARCHAR) AS reason
FROM fresh_shadows
WHERE (org_id, day) IN (SELECT org_id, day FROM due)
