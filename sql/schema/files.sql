-- One row is one file that a session changed on one day. It counts as created if it was created on that day, otherwise as edited.
-- Grain: (org_id, day, user_id, session_id, path).
CREATE OR REPLACE VIEW files AS
SELECT
  org_id,
  day,
  user_id,
  session_id,
  path,
  max(coalesce(agent, '')) AS agent,  -- the last by name if several changed it; '' if the events name none
  max(CASE WHEN operation = 'create' THEN 1 ELSE 0 END) AS is_created
FROM file_changes
GROUP BY ALL
